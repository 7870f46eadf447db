package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"gomodules.xyz/jsonpatch/v2"
	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// mutator sets the constant defaults and, where the deletion policy needs it, the finalizer.
//
// It is not controller-runtime's typed defaulter for two reasons. That one answers 400, without a path, to what it cannot
// decode; here such an object passes unpatched and the schema refuses it with the path. And that one's patch leads from
// the bytes as sent to the typed object encoded anew, which respells or drops what this version's types do not hold; here
// the patch only ever adds.
type mutator struct {
	decoder admission.Decoder
}

var _ admission.Handler = &mutator{}

// Handle answers a request. It never refuses one.
func (m *mutator) Handle(_ context.Context, req admission.Request) admission.Response {
	patch, err := m.patch(req)
	if err != nil {
		return admission.Allowed("")
	}
	return admission.Patched("", patch...)
}

func (m *mutator) patch(req admission.Request) ([]jsonpatch.JsonPatchOperation, error) {
	create := req.Operation == admissionv1.Create
	if !create && req.Operation != admissionv1.Update {
		return nil, nil
	}
	app := &v1beta1.MyApp{}
	if err := m.decoder.Decode(req, app); err != nil {
		return nil, fmt.Errorf("decode MyApp: %w", err)
	}
	if !app.DeletionTimestamp.IsZero() {
		return nil, nil
	}
	var raw map[string]any
	if err := json.Unmarshal(req.Object.Raw, &raw); err != nil {
		return nil, fmt.Errorf("decode MyApp: %w", err)
	}
	if raw == nil {
		// null decodes into anything and can be added to by nothing.
		return nil, errors.New("decode MyApp: the object is null")
	}
	return defaultingPatch(raw, app, create)
}
