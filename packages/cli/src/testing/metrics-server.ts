const NAMESPACE = 'kube-system'
const NAME = 'metrics-server'
const LABELS = { 'k8s-app': NAME }

function roleBinding(name: string, kind: 'ClusterRole' | 'Role', role: string): object {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: `${kind}Binding`,
    metadata: { name, ...(kind === 'Role' ? { namespace: NAMESPACE } : {}) },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: role },
    subjects: [{ kind: 'ServiceAccount', name: NAME, namespace: NAMESPACE }],
  }
}

const CONTAINER = {
  name: NAME,
  image: 'localhost/metrics-server:1',
  imagePullPolicy: 'Never',
  args: [
    '--secure-port=10250',
    '--cert-dir=/tmp',
    '--kubelet-insecure-tls',
    '--kubelet-preferred-address-types=InternalIP',
    '--metric-resolution=15s',
  ],
  volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
  readinessProbe: { httpGet: { path: '/readyz', port: 10_250, scheme: 'HTTPS' }, periodSeconds: 2 },
}

/** JSON for `kubectl apply` that installs the metrics server. Autoscalers need it for the CPU time of pods. */
export const METRICS_SERVER = JSON.stringify({
  apiVersion: 'v1',
  kind: 'List',
  items: [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: NAME, namespace: NAMESPACE } },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: NAME },
      rules: [
        { apiGroups: [''], resources: ['nodes/metrics'], verbs: ['get'] },
        { apiGroups: [''], resources: ['pods', 'nodes'], verbs: ['get', 'list', 'watch'] },
      ],
    },
    roleBinding(NAME, 'ClusterRole', NAME),
    roleBinding(`${NAME}-delegator`, 'ClusterRole', 'system:auth-delegator'),
    roleBinding(`${NAME}-reader`, 'Role', 'extension-apiserver-authentication-reader'),
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: NAME, namespace: NAMESPACE },
      spec: {
        selector: { matchLabels: LABELS },
        template: {
          metadata: { labels: LABELS },
          spec: {
            serviceAccountName: NAME,
            containers: [CONTAINER],
            volumes: [{ name: 'tmp', emptyDir: {} }],
          },
        },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: NAME, namespace: NAMESPACE },
      spec: { selector: LABELS, ports: [{ port: 443, targetPort: 10_250 }] },
    },
    {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: 'v1beta1.metrics.k8s.io' },
      spec: {
        service: { name: NAME, namespace: NAMESPACE },
        group: 'metrics.k8s.io',
        version: 'v1beta1',
        insecureSkipTLSVerify: true,
        groupPriorityMinimum: 100,
        versionPriority: 100,
      },
    },
  ],
})
