package controllers

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
)

func TestC05Behind(t *testing.T) {
	at := func(version string) client.Object {
		return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{ResourceVersion: version}}
	}
	cases := []struct {
		name   string
		wrote  string
		cached client.Object
		later  time.Duration
		behind bool
	}{
		{"never wrote", "", nil, 0, false},
		{"not there yet", "100", nil, 0, true},
		{"older", "100", at("99"), 0, true},
		{"older, of fewer digits", "1000", at("999"), time.Second, true},
		{"the same", "100", at("100"), 0, false},
		{"newer", "100", at("101"), 0, false},
		{"newer, of more digits", "999", at("1000"), 0, false},
		{"too long ago to wait", "100", nil, 5 * time.Second, false},
		{"just before that", "100", at("99"), 5*time.Second - 1, true},
		{"versions that cannot be compared", "100", at("abc"), 0, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var all memories
			m := all.of(&v1beta1.MyApp{ObjectMeta: metav1.ObjectMeta{Name: "shop"}})
			if c.wrote != "" {
				m.wrote("Deployment", c.wrote, now)
			}
			if got := m.behind("Deployment", c.cached, now.Add(c.later)); got != c.behind {
				t.Errorf("the pass waits for the cache: %v, want %v", got, c.behind)
			}
			if m.behind("Service", nil, now) {
				t.Error("a write of one kind delays another")
			}
		})
	}
}

func TestC05CaughtUpOnceIsCaughtUp(t *testing.T) {
	var all memories
	m := all.of(&v1beta1.MyApp{ObjectMeta: metav1.ObjectMeta{Name: "shop"}})
	m.wrote("Deployment", "100", now)
	if m.behind("Deployment", &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "100"}}, now) {
		t.Fatal("the pass waits for what the cache shows")
	}
	if m.behind("Deployment", nil, now) {
		t.Error("a Deployment that was deleted after we saw our write is not made again")
	}
}

func TestMemoriesForget(t *testing.T) {
	var all memories
	shop, other := myApp(t, ""), myApp(t, "", func(app *v1beta1.MyApp) { app.Name, app.UID = "other", "uid-of-other" })
	key := client.ObjectKeyFromObject
	all.of(shop).wrote("Deployment", "100", now)
	all.of(other).wrote("Deployment", "100", now)

	all.gone(key(shop), "Service")
	if !all.of(shop).behind("Deployment", nil, now) {
		t.Error("the end of the Service says something about the Deployment")
	}
	all.gone(key(shop), "Deployment")
	if all.of(shop).behind("Deployment", nil, now) {
		t.Error("a Deployment that is known to be deleted is waited for")
	}
	if !all.of(other).behind("Deployment", nil, now) {
		t.Error("the end of one MyApp's Deployment says something about another's")
	}
	all.forget(key(other))
	if all.of(other).behind("Deployment", nil, now) {
		t.Error("a MyApp that is gone leaves a memory")
	}

	all = memories{}
	all.gone(key(shop), "Deployment")
	if len(all.byKey) != 0 {
		t.Error("strangers' objects fill the memory")
	}
}

// C05: a MyApp that is deleted and made again has another UID, and the watch may show both as one update.
func TestC05MemoryEndsWithTheMyApp(t *testing.T) {
	var all memories
	all.of(myApp(t, "")).wrote("Deployment", "100", now)
	again := myApp(t, "", func(app *v1beta1.MyApp) { app.UID = "uid-of-the-next" })
	if all.of(again).behind("Deployment", nil, now) {
		t.Error("a MyApp of the same name inherits the memory of the former one")
	}
}

// A refused intent is held back for a growing time that never outlasts the queue's own delay; an invalid one for good.
func TestRefusalsAreHeldBack(t *testing.T) {
	m := (&memories{}).of(&v1beta1.MyApp{ObjectMeta: metav1.ObjectMeta{Name: "shop"}})
	at := now
	for range 20 {
		m.wasRefused("Service", "intent", denied("User cannot patch"), at)
		if m.refuses("Service", "intent", at.Add(time.Millisecond)) == nil {
			t.Fatal("every pass sends a refused child again")
		}
		if m.refuses("Service", "another", at) != nil {
			t.Fatal("a changed spec is not tried")
		}
		at = at.Add(lastRetry)
		if m.refuses("Service", "intent", at.Add(-lastRetry/2)) != nil {
			t.Fatal("the queue's try comes too early to be made")
		}
	}
	m.wasRefused("Service", "intent", refused("Service"), at)
	if m.refuses("Service", "intent", at.Add(1000*time.Hour)) == nil {
		t.Error("an invalid child is sent again although the spec did not change")
	}
}
