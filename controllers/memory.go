package controllers

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// memory is what the past passes over one MyApp teach the next one, so that it need not ask the API server again. It is
// lost with the process, which costs requests and never correctness. Reconciles of one MyApp never run at the same time;
// only written is shared, with the event handlers.
type memory struct {
	// uid is the MyApp's; one that is made again under the same name starts with an empty memory.
	uid types.UID
	mu  sync.Mutex
	// written holds, for every kind we wrote, what the cache must show before we act on it again.
	written map[string]write
	// agreed holds, for every kind, a live object that was found to be as intended, or as near to it as the server lets it.
	agreed map[string]agreement
	// refused holds, for every kind, the intent that the API server refused. One that is invalid is not sent again, another
	// not before its time: passes come for many reasons, and not each may try anew.
	refused map[string]refusal
	// seen holds the kinds that there has been a child of.
	seen map[string]bool
	// blocked holds, for every kind, the foreign object in the way and when to look at it again.
	blocked map[string]*blockedError
	// scaler is the last answer about autoscalers of others; nil when nothing asks for one.
	scaler *scalerAnswer
	// handedOver is set once the deletion was seen to be the garbage collector's.
	handedOver bool
	// unreported is set while a pass has left the report of its changes to the next one.
	unreported bool
}

type write struct {
	resourceVersion string
	at              time.Time
}

// agreement says that this state of the live object is what becomes of this intent.
type agreement struct{ intent, live uint64 }

type refusal struct {
	intent uint64
	err    error
	// until is when the intent may be sent again, and wait how long that was from the refusal; zero for never.
	until time.Time
	wait  time.Duration
}

// catchUpLimit bounds the wait for the cache to show our own write. Watches lag by milliseconds; one that lags longer is
// broken, or the object was deleted in between, and every write is safe on a stale view anyway: a creation cannot
// overwrite, an apply names the UID, a status patch the resourceVersion.
const catchUpLimit = 5 * time.Second

// behind tells whether the cached object (nil when there is none) is older than what we wrote.
func (m *memory) behind(kind string, cached client.Object, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	w, ok := m.written[kind]
	if !ok {
		return false
	}
	if now.Sub(w.at) < catchUpLimit && (cached == nil || older(cached.GetResourceVersion(), w.resourceVersion)) {
		return true
	}
	delete(m.written, kind)
	return false
}

// older compares two resourceVersions of one resource; those that cannot be compared are taken as equal.
func older(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order < 0
}

func (m *memory) wrote(kind, resourceVersion string, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.written[kind] = write{resourceVersion, now}
}

// wroteNothing tells whether our last write left the object at the version that it had before.
func (m *memory) wroteNothing(kind, before string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.written[kind].resourceVersion == before
}

// refuses returns the API server's answer to this very intent if it is too early, or no use, to ask again.
func (m *memory) refuses(kind string, intent any, now time.Time) error {
	r, ok := m.refused[kind]
	if ok && r.intent == hash(intent) && (r.wait == 0 || now.Before(r.until)) {
		return r.err
	}
	return nil
}

// wasRefused remembers the API server's answer. The wait grows with every refusal of the same intent, up to half of the
// queue's longest delay: a try that the queue makes must not come just before the wait is over and be put off once more.
func (m *memory) wasRefused(kind string, intent any, err error, now time.Time) {
	last, next := m.refused[kind], refusal{intent: hash(intent), err: err}
	if !isRefusal(err) {
		next.wait = shortestWindow
		if last.intent == next.intent {
			next.wait = min(max(2*last.wait, shortestWindow), lastRetry/2)
		}
		next.until = now.Add(next.wait)
	}
	m.refused[kind] = next
}

// gone is told by the watch that an object was deleted: there is nothing left to catch up with.
func (m *memory) gone(kind string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.written, kind)
}

// memories holds the memory of every MyApp that exists.
type memories struct {
	mu    sync.Mutex
	byKey map[types.NamespacedName]*memory
}

func (m *memories) of(app *v1beta1.MyApp) *memory {
	key := client.ObjectKeyFromObject(app)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byKey == nil {
		m.byKey = map[types.NamespacedName]*memory{}
	}
	if known := m.byKey[key]; known == nil || known.uid != app.UID {
		m.byKey[key] = &memory{
			uid:     app.UID,
			written: map[string]write{},
			agreed:  map[string]agreement{},
			refused: map[string]refusal{},
			blocked: map[string]*blockedError{},
			seen:    map[string]bool{},
		}
	}
	return m.byKey[key]
}

// gone is told of the deletion of a child; it makes no memory of its own.
func (m *memories) gone(key types.NamespacedName, kind string) {
	m.mu.Lock()
	known := m.byKey[key]
	m.mu.Unlock()
	if known != nil {
		known.gone(kind)
	}
}

func (m *memories) forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.byKey, key)
}
