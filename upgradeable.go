package main

import (
	"context"
	"fmt"
	"os"
	"time"

	operatorsv2 "github.com/operator-framework/api/pkg/operators/v2"
	"github.com/operator-framework/operator-lib/conditions"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// OLM gives an operator that it installed one OperatorCondition to say in whether it may be replaced now. There is one
// moment when it had better not be: while a MyApp is being torn down in order. That moment is bounded, so that a tenant
// whose teardown is stuck does not keep everybody from an upgrade.

const (
	// conditionNameEnv is set by OLM, and by nobody else: without it there is nothing to tell, and nobody to tell it to.
	conditionNameEnv = "OPERATOR_CONDITION_NAME"
	// teardownHold is for how long a deletion keeps an upgrade waiting.
	teardownHold = 5 * time.Minute
	// upgradeableInterval is how often the MyApps in the cache are looked at; that costs no request.
	upgradeableInterval = 5 * time.Second
	// upgradeableMaxDelay bounds the growing delay between tries to write the condition.
	upgradeableMaxDelay = 5 * time.Minute
)

// upgradeable keeps the OperatorCondition's condition Upgradeable. Only the leader does; what a leader that crashed has
// left there, the next one replaces at once.
type upgradeable struct {
	// apps is the cache of MyApps.
	apps client.Reader
	// condition is what OLM reads.
	condition conditions.Condition
	now       func() time.Time
	interval  time.Duration
}

// addUpgradeable makes the manager keep the condition where OLM asks for it.
func addUpgradeable(mgr ctrl.Manager) error {
	if os.Getenv(conditionNameEnv) == "" {
		return nil
	}
	// The right is for one object by its name, so a cache, which lists and watches, could not read it.
	direct, err := client.New(mgr.GetConfig(), client.Options{
		HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(),
	})
	if err != nil {
		return fmt.Errorf("build the OperatorCondition's client: %w", err)
	}
	condition, err := conditions.InClusterFactory{Client: direct}.NewCondition(operatorsv2.ConditionType(operatorsv2.Upgradeable))
	if err != nil {
		return fmt.Errorf("find the OperatorCondition that %s names: %w", conditionNameEnv, err)
	}
	return mgr.Add(&upgradeable{apps: mgr.GetCache(), condition: condition, now: time.Now, interval: upgradeableInterval})
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (*upgradeable) NeedLeaderElection() bool { return true }

// Start writes the condition once and then whenever it changes, until the context ends. It never fails: an operator that
// cannot say whether it may be upgraded works all the same.
func (u *upgradeable) Start(ctx context.Context) error {
	var (
		said  metav1.ConditionStatus
		delay = u.backoff()
		next  time.Time
	)
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		if u.now().Before(next) {
			return
		}
		verdict, err := u.verdict(ctx)
		if err == nil && verdict.Status != said {
			err = u.say(ctx, verdict)
		}
		if err != nil {
			next = u.now().Add(delay.Step())
			ctrl.Log.Error(err, "the OperatorCondition is not up to date; trying again", "at", next)
			return
		}
		said, delay = verdict.Status, u.backoff()
	}, u.interval)
	return nil
}

func (u *upgradeable) backoff() wait.Backoff {
	return wait.Backoff{Duration: u.interval, Factor: 2, Steps: 16, Cap: upgradeableMaxDelay}
}

// say writes the condition; somebody else may write the same object at the same time.
func (u *upgradeable) say(ctx context.Context, c metav1.Condition) error {
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		return u.condition.Set(ctx, c.Status, conditions.WithReason(c.Reason), conditions.WithMessage(c.Message))
	})
	if err != nil {
		return fmt.Errorf("set condition %s: %w", operatorsv2.Upgradeable, err)
	}
	return nil
}

// verdict is what the MyApps in the cache say.
func (u *upgradeable) verdict(ctx context.Context) (metav1.Condition, error) {
	var all v1beta1.MyAppList
	// The objects are only looked at.
	if err := u.apps.List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil {
		return metav1.Condition{}, fmt.Errorf("list MyApps: %w", err)
	}
	return judgeUpgrade(all.Items, u.now()), nil
}

// judgeUpgrade is Upgradeable of an operator that keeps these MyApps: False while one of them has been torn down in order
// for less than five minutes.
func judgeUpgrade(apps []v1beta1.MyApp, now time.Time) metav1.Condition {
	busy, example := 0, ""
	for i := range apps {
		if app := &apps[i]; tearsDown(app, now) {
			busy++
			example = app.Namespace + "/" + app.Name
		}
	}
	if busy == 0 {
		return metav1.Condition{Status: metav1.ConditionTrue, Reason: "Ready", Message: "no teardown is in progress"}
	}
	return metav1.Condition{
		Status: metav1.ConditionFalse, Reason: "TeardownInProgress",
		Message: fmt.Sprintf("%d MyApps are being deleted in order, for example %s; none holds an upgrade for more than %s",
			busy, example, teardownHold),
	}
}

func tearsDown(app *v1beta1.MyApp, now time.Time) bool {
	return app.DeletionTimestamp != nil && app.Spec.DeletionPolicy == v1beta1.DeletionPolicyDrain &&
		controllerutil.ContainsFinalizer(app, v1beta1.Finalizer) && now.Sub(app.DeletionTimestamp.Time) < teardownHold
}
