package main

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	operatorsv2 "github.com/operator-framework/api/pkg/operators/v2"
	"github.com/operator-framework/operator-lib/conditions"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// deleting is a MyApp under a policy whose deletion began some time before now.
func deleting(policy v1beta1.DeletionPolicy, began time.Duration, now time.Time) v1beta1.MyApp {
	stamp := metav1.NewTime(now.Add(-began))
	return v1beta1.MyApp{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart", DeletionTimestamp: &stamp, Finalizers: []string{v1beta1.Finalizer}},
		Spec:       v1beta1.MyAppSpec{DeletionPolicy: policy},
	}
}

func TestJudgeUpgrade(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	released := deleting(v1beta1.DeletionPolicyDrain, time.Second, now)
	released.Finalizers = []string{"example.com/another"}
	alive := deleting(v1beta1.DeletionPolicyDrain, 0, now)
	alive.DeletionTimestamp = nil
	for name, c := range map[string]struct {
		apps []v1beta1.MyApp
		want metav1.ConditionStatus
	}{
		"no MyApp":                     {nil, metav1.ConditionTrue},
		"not deleted":                  {[]v1beta1.MyApp{alive}, metav1.ConditionTrue},
		"teardown just begun":          {[]v1beta1.MyApp{deleting(v1beta1.DeletionPolicyDrain, 0, now)}, metav1.ConditionFalse},
		"teardown nearly five minutes": {[]v1beta1.MyApp{deleting(v1beta1.DeletionPolicyDrain, 5*time.Minute-1, now)}, metav1.ConditionFalse},
		"teardown five minutes":        {[]v1beta1.MyApp{deleting(v1beta1.DeletionPolicyDrain, 5*time.Minute, now)}, metav1.ConditionTrue},
		"a stuck and a new one": {[]v1beta1.MyApp{
			deleting(v1beta1.DeletionPolicyDrain, time.Hour, now), deleting(v1beta1.DeletionPolicyDrain, time.Minute, now),
		}, metav1.ConditionFalse},
		"policy Delete":               {[]v1beta1.MyApp{deleting(v1beta1.DeletionPolicyDelete, 0, now)}, metav1.ConditionTrue},
		"policy Orphan":               {[]v1beta1.MyApp{deleting(v1beta1.DeletionPolicyOrphan, 0, now)}, metav1.ConditionTrue},
		"our part is over":            {[]v1beta1.MyApp{released}, metav1.ConditionTrue},
		"another's clock runs behind": {[]v1beta1.MyApp{deleting(v1beta1.DeletionPolicyDrain, -time.Second, now)}, metav1.ConditionFalse},
	} {
		t.Run(name, func(t *testing.T) {
			got := judgeUpgrade(c.apps, now)
			if got.Status != c.want {
				t.Errorf("Upgradeable is %s (%s: %s), want %s", got.Status, got.Reason, got.Message, c.want)
			}
			if (got.Status == metav1.ConditionFalse) != (got.Reason == "TeardownInProgress") || got.Reason == "" || got.Message == "" {
				t.Errorf("status %s comes with reason %q and message %q", got.Status, got.Reason, got.Message)
			}
		})
	}
}

// fakeApps is the cache.
type fakeApps struct {
	client.Reader
	items []v1beta1.MyApp
}

func (f *fakeApps) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	list.(*v1beta1.MyAppList).Items = f.items
	return nil
}

// fakeCondition is an OperatorCondition that fails as often as it is told to.
type fakeCondition struct {
	conditions.Condition
	fails []error
	calls int
	set   []metav1.ConditionStatus
}

func (f *fakeCondition) Set(_ context.Context, status metav1.ConditionStatus, options ...conditions.Option) error {
	f.calls++
	if len(f.fails) > 0 {
		err := f.fails[0]
		f.fails = f.fails[1:]
		return err
	}
	c := metav1.Condition{}
	for _, o := range options {
		o(&c)
	}
	if c.Reason == "" {
		return errors.New("a condition without a reason is refused")
	}
	f.set = append(f.set, status)
	return nil
}

// runUpgradeable starts it in a bubble whose clock is moved with the returned function.
func runUpgradeable(t *testing.T, apps *fakeApps, condition *fakeCondition) (pass func(time.Duration)) {
	u := &upgradeable{apps: apps, condition: condition, now: time.Now, interval: upgradeableInterval}
	done := make(chan error)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { done <- u.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Start failed: %v", err)
		}
	})
	return func(d time.Duration) {
		time.Sleep(d)
		synctest.Wait()
	}
}

func TestUpgradeableIsWrittenOnChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		apps, condition := &fakeApps{}, &fakeCondition{}
		pass := runUpgradeable(t, apps, condition)
		want := func(when string, all ...metav1.ConditionStatus) {
			t.Helper()
			if !slices.Equal(condition.set, all) {
				t.Errorf("%s: written %v, want %v", when, condition.set, all)
			}
		}
		pass(0)
		want("at the start", metav1.ConditionTrue)
		pass(time.Hour)
		want("while nothing happens", metav1.ConditionTrue)
		apps.items = []v1beta1.MyApp{deleting(v1beta1.DeletionPolicyDrain, 0, time.Now())}
		pass(upgradeableInterval)
		want("a teardown began", metav1.ConditionTrue, metav1.ConditionFalse)
		pass(teardownHold - 2*upgradeableInterval)
		want("the teardown goes on", metav1.ConditionTrue, metav1.ConditionFalse)
		pass(2 * upgradeableInterval)
		want("the teardown is stuck", metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionTrue)
		if condition.calls != 3 {
			t.Errorf("%d writes for 3 changes", condition.calls)
		}
	})
}

// TestUpgradeableAfterCrash: the next leader writes at once, whatever the last one has left.
func TestUpgradeableAfterCrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		condition := &fakeCondition{set: []metav1.ConditionStatus{metav1.ConditionFalse}}
		runUpgradeable(t, &fakeApps{}, condition)(0)
		if got := condition.set[len(condition.set)-1]; got != metav1.ConditionTrue {
			t.Errorf("the new leader leaves Upgradeable %s", got)
		}
	})
}

func TestUpgradeableSurvivesErrors(t *testing.T) {
	conflict := apierrors.NewConflict(operatorsv2.GroupVersion.WithResource("operatorconditions").GroupResource(), "x", errors.New("changed"))
	forbidden := apierrors.NewForbidden(operatorsv2.GroupVersion.WithResource("operatorconditions").GroupResource(), "x", errors.New("no"))
	t.Run("a conflict is tried again at once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			condition := &fakeCondition{fails: []error{conflict, conflict}}
			runUpgradeable(t, &fakeApps{}, condition)(time.Second)
			if len(condition.set) != 1 || condition.calls != 3 {
				t.Errorf("%d of %d writes succeeded within a second, want the third", len(condition.set), condition.calls)
			}
		})
	})
	t.Run("another error is tried again, ever less often", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			condition := &fakeCondition{fails: slices.Repeat([]error{forbidden}, 1000)}
			pass := runUpgradeable(t, &fakeApps{}, condition)
			pass(time.Hour)
			if condition.calls < 12 || condition.calls > 24 {
				t.Errorf("%d tries in an hour", condition.calls)
			}
			condition.fails = nil
			pass(upgradeableMaxDelay + upgradeableInterval)
			if len(condition.set) != 1 {
				t.Errorf("%d writes after the error has gone", len(condition.set))
			}
		})
	})
}

func TestUpgradeableIsTheLeadersOnly(t *testing.T) {
	var u manager.LeaderElectionRunnable = &upgradeable{}
	if !u.NeedLeaderElection() {
		t.Error("every replica would write the condition")
	}
}

// TestNoOLM: the manager is not even asked.
func TestNoOLM(t *testing.T) {
	t.Setenv(conditionNameEnv, "")
	if err := addUpgradeable(nil); err != nil {
		t.Errorf("without %s: %v", conditionNameEnv, err)
	}
}
