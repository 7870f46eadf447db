package main

const (
	// percentPattern bounds a string beside a number of pods; one of more than all pods means nothing.
	percentPattern = `^(100|[1-9]?[0-9])%$`
	// surgePattern is that of pods beyond the wanted ones, of which there may be several times as many.
	surgePattern = `^(0|[1-9][0-9]{0,3})%$`
)

const otherNamespaces = "a MyApp refers to nothing outside its own namespace"

// blockRows are those of the blocks that say where and how the pods run: mounts, scaling, scheduling and rollout.
var blockRows = []row{
	at("items[].key", minLength(1)),
	at("items[].path", minLength(1), maxLength(maxPath)),
	at("items[].mode", between(0, 0o777)),
	at("items[].user", refuse("needs a feature of Kubernetes that is not on by default")),
	at("emptyDir.sizeLimit", notNegative()),

	at("behavior.*.stabilizationWindowSeconds", between(0, 3600)),
	at("behavior.*.selectPolicy", oneOf("Max", "Min", "Disabled")),
	at("behavior.*.policies", minItems(1)),
	at("policies[].type", oneOf("Pods", "Percent")),
	at("policies[].value", between(1, maxID)),
	at("policies[].periodSeconds", between(1, 1800)),
	at("behavior.*.tolerance", notNegative()),

	at("podDisruptionBudget.minAvailable", pattern(percentPattern)),
	at("podDisruptionBudget.maxUnavailable", pattern(percentPattern)),
	at("rollout.maxUnavailable", pattern(percentPattern)),
	at("rollout.maxSurge", pattern(surgePattern)),

	at("nodeSelector{}", maxLength(maxLabel)),

	at("tolerations[]",
		mustAt(".operator", "has(self.key) && self.key != '' || has(self.operator) && self.operator == 'Exists'",
			"must be Exists where there is no key"),
		mustAt(".value", "!has(self.value) || self.value == '' || !has(self.operator) || self.operator != 'Exists'",
			"has no meaning beside the operator Exists"),
		mustAt(".tolerationSeconds", "!has(self.tolerationSeconds) || has(self.effect) && self.effect == 'NoExecute'",
			"goes with the effect NoExecute only")),
	at("tolerations[].key", maxLength(maxKey)),
	// Lt and Gt need a feature of Kubernetes that is not on by default.
	at("tolerations[].operator", oneOf("", "Exists", "Equal")),
	at("tolerations[].value", maxLength(maxLabel)),
	at("tolerations[].effect", oneOf("", "NoSchedule", "PreferNoSchedule", "NoExecute")),
	at("tolerations[].tolerationSeconds", between(-maxInt64, maxInt64)),

	at("nodeSelectorTerms", minItems(1)),
	at("nodeSelectorTerms[].matchExpressions[]", valuesFit(true)),
	at("nodeSelectorTerms[].matchExpressions[].operator", oneOf("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")),
	at("nodeSelectorTerms[].matchExpressions[].values[]", maxLength(maxLabel)),
	at("preference.matchExpressions[]", valuesFit(true)),
	at("preference.matchExpressions[].operator", oneOf("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")),
	at("matchFields[]", required("values")),
	at("matchFields[].key", oneOf("metadata.name")),
	at("matchFields[].operator", oneOf("In", "NotIn")),
	at("matchFields[].values", minItems(1), maxItems(1)),
	at("preferredDuringSchedulingIgnoredDuringExecution[].weight", between(1, 100)),

	at("matchLabels{}", maxLength(maxLabel)),
	at("matchExpressions[].key", minLength(1), maxLength(maxKey)),
	at("labelSelector.matchExpressions[]", valuesFit(false)),
	at("labelSelector.matchExpressions[].operator", oneOf("In", "NotIn", "Exists", "DoesNotExist")),
	at("labelSelector.matchExpressions[].values[]", maxLength(maxLabel)),
	at("topologyKey", minLength(1), maxLength(maxKey)),
	at("matchLabelKeys[]", minLength(1), maxLength(maxKey)),
	at("mismatchLabelKeys[]", minLength(1), maxLength(maxKey)),
	// Pods of another namespace could be kept from running by those that a MyApp wants to be away from.
	at("namespaces", refuse(otherNamespaces)),
	at("namespaceSelector", refuse(otherNamespaces)),

	at("topologySpreadConstraints[]", mustAt(".minDomains", "!has(self.minDomains) || self.whenUnsatisfiable == 'DoNotSchedule'",
		"goes with whenUnsatisfiable DoNotSchedule only")),
	at("topologySpreadConstraints[].maxSkew", between(1, maxID)),
	at("topologySpreadConstraints[].minDomains", between(1, maxID)),
	at("topologySpreadConstraints[].whenUnsatisfiable", oneOf("DoNotSchedule", "ScheduleAnyway")),
	at("topologySpreadConstraints[].nodeAffinityPolicy", oneOf("Honor", "Ignore")),
	at("topologySpreadConstraints[].nodeTaintsPolicy", oneOf("Honor", "Ignore")),
}

// notNegative demands a quantity from 0 on.
func notNegative() edit {
	return must("type(self) in [int] ? self >= 0 : !self.startsWith('-')", "must not be negative")
}

// valuesFit demands of an expression over labels as many values as its operator takes. Expressions over the labels of
// nodes may compare as well.
func valuesFit(compares bool) edit {
	rule := "self.operator in ['In', 'NotIn'] ? has(self.values) && size(self.values) > 0 : "
	message := "must hold something for In and NotIn, and nothing for Exists and DoesNotExist"
	if compares {
		rule += "self.operator in ['Gt', 'Lt'] ? has(self.values) && size(self.values) == 1 : "
		message += ", and one number for Gt and Lt"
	}
	return mustAt(".values", rule+"!has(self.values) || size(self.values) == 0", message)
}
