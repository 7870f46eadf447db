package webhooks

import "testing"

func TestValidateMounts(t *testing.T) {
	runSpecCases(t, []specCase{
		{
			name: "one of each kind",
			spec: `{mounts: [{path: /etc/web, configMap: {name: settings, items: [{key: web.conf, path: conf.d/web.conf, mode: 0400}]}}, {path: /etc/tls, secret: {name: tls, optional: true, defaultMode: 256}},
				{path: /tmp, emptyDir: {medium: Memory, sizeLimit: 64Mi}}, {path: /data, subPath: web/files, persistentVolumeClaim: {claimName: data}}]}`,
		},
		{name: "a mount below another", spec: `{mounts: [{path: /data, emptyDir: {}}, {path: /data/cache, emptyDir: {}}]}`},
		{
			name: "paths",
			spec: `{mounts: [{path: "", emptyDir: {}}, {path: data, emptyDir: {}}, {path: "/a:b", emptyDir: {}}, {path: /a/../b, emptyDir: {}}, {path: //., emptyDir: {}}, {path: /..a, emptyDir: {}}]}`,
			want: []string{
				"spec.mounts[0].path: Required value", "spec.mounts[1].path: Invalid value", "spec.mounts[2].path: Invalid value",
				"spec.mounts[3].path: Invalid value", "spec.mounts[4].path: Invalid value",
			},
			says: "begin it with '/'",
		},
		{
			name: "one path in two spellings",
			spec: `{mounts: [{path: /data, emptyDir: {}}, {path: //data/./, emptyDir: {}}]}`,
			want: []string{"spec.mounts[1].path: Duplicate value"},
			says: "another mount",
		},
		{
			name: "sources",
			spec: `{mounts: [{path: /a}, {path: /b, emptyDir: {}, configMap: {name: c}}]}`,
			want: []string{"spec.mounts[0]: Required value", "spec.mounts[1]: Forbidden"},
			says: "exactly one of configMap",
		},
		{
			name: "paths inside a volume",
			spec: `{mounts: [{path: /a, subPath: /b, emptyDir: {}}, {path: /b, subPath: a/../../b, emptyDir: {}}]}`,
			want: []string{"spec.mounts[0].subPath: Invalid value", "spec.mounts[1].subPath: Invalid value"},
		},
		{
			name: "X02 names of this namespace",
			spec: `{mounts: [{path: /a, configMap: {}}, {path: /b, secret: {name: kube-system/admin}}, {path: /c, persistentVolumeClaim: {claimName: Data}}]}`,
			want: []string{"spec.mounts[0].configMap.name: Required value", "spec.mounts[1].secret.name: Invalid value", "spec.mounts[2].persistentVolumeClaim.claimName: Invalid value"},
		},
		{
			name: "items",
			spec: `{mounts: [{path: /a, secret: {name: s, items: [{key: a b, path: a}, {path: ./a}, {key: c, path: ""}, {key: d, path: /d}, {key: e, path: ../e}, {key: f, path: ..f}, {key: g, path: g, mode: 512, user: 1}]}}]}`,
			want: []string{
				"spec.mounts[0].secret.items[0].key: Invalid value", "spec.mounts[0].secret.items[1].key: Required value",
				"spec.mounts[0].secret.items[1].path: Duplicate value", "spec.mounts[0].secret.items[2].path: Required value",
				"spec.mounts[0].secret.items[3].path: Invalid value", "spec.mounts[0].secret.items[4].path: Invalid value",
				"spec.mounts[0].secret.items[5].path: Invalid value", "spec.mounts[0].secret.items[6].mode: Invalid value",
				"spec.mounts[0].secret.items[6].user: Forbidden",
			},
		},
		{
			name: "settings of the sources",
			spec: `{mounts: [{path: /a, configMap: {name: c, defaultMode: -1}}, {path: /b, emptyDir: {medium: HugePages, sizeLimit: -1Mi}}]}`,
			want: []string{
				"spec.mounts[0].configMap.defaultMode: Invalid value", "spec.mounts[1].emptyDir.medium: Unsupported value",
				"spec.mounts[1].emptyDir.sizeLimit: Invalid value",
			},
		},
	})
}
