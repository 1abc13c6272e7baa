import { gatewayObjects } from '../../packages/cli/dist/kubernetes/objects/gateway-objects.js'
import { DEPLOYMENT_SLOTS } from './deployment-slots.mjs'
import { below, block, included, items, name, optional, templateOf, value, when } from './slots.mjs'

const DOCUMENT = `version: 1
listeners: [{ address: ':80' }]
metrics: { address: ':9902' }
upstreams: { a: { targets: ['k8s://slot.slot-followed:1'] } }
routes: [{ id: a, respond: { body: '\${file:slot}' } }]
`
/** Settings that produce every optional part of an object, so that every slot has a place. */
const SETTINGS = {
  name: 'slot-name',
  namespace: 'slot-namespace',
  managedBy: 'slot-manager',
  image: 'slot-image',
  imagePullPolicy: 'Always',
  imagePullSecrets: ['slot'],
  tier: 'W1',
  replicas: 1,
  secret: 'slot',
  network: { clients: [{ podSelector: {} }] },
  service: {
    annotations: { slot: '' },
    externalTrafficPolicy: 'Local',
    options: { loadBalancerClass: 'slot' },
  },
  priorityClassName: 'slot',
  extraEnv: [{ name: 'slot', value: '' }],
  extraVolumes: [{ name: 'slot' }],
  extraVolumeMounts: [{ name: 'slot' }],
  nodeSelector: { slot: '' },
  tolerations: [{ key: 'slot' }],
  initContainers: [{ name: 'slot' }],
  sidecars: [{ name: 'slot' }],
  dnsPolicy: 'slot',
  dnsConfig: { slot: '' },
  envFrom: [{ slot: '' }],
  affinity: { slot: '' },
  monitoring: { labels: { slot: '' }, interval: 'slot' },
}
const AUTOSCALED = { ...SETTINGS, autoscaling: { maxReplicas: 2, requestsInFlight: 1 } }

/** Text fragments, longest first. */
const TEXTS = [
  ['slot-namespace.slot-name', '{{ $.Release.Namespace }}.{{ include "sluice.fullname" $ }}'],
  ['slot-namespace', '{{ $.Release.Namespace }}'],
  ['slot-followed', '{{ . }}'],
  ['slot-name', '{{ include "sluice.fullname" $ }}'],
]
const LABELS = {
  'metadata/labels': {
    lines: (head, indent) => [
      head,
      `${indent}  {{- include "sluice.labels" $ | nindent ${indent.length + 2} }}`,
    ],
  },
}
const SELECTOR = included('sluice.selectorLabels')
const MONITOR_LABELS = below(
  '{{- include "sluice.labels" . | nindent N }}',
  '{{- with .Values.monitoring.labels }}',
  '{{- toYaml . | nindent N }}',
  '{{- end }}',
)

/** Differences between template and object, for each object. */
const ROWS = [
  {
    kind: 'ServiceAccount',
    condition: 'if .Values.serviceAccount.create',
    slots: {
      'metadata/name': name('include "sluice.serviceAccountName" .'),
      'metadata/labels': {
        lines: (head, indent) => [
          ...included('sluice.labels').lines(head, indent),
          ...optional('.Values.serviceAccount.annotations').lines(`${indent}annotations:`, indent),
        ],
      },
    },
  },
  { kind: 'Role', each: 'range $facts.serviceNamespaces' },
  {
    kind: 'RoleBinding',
    each: 'range $facts.serviceNamespaces',
    slots: { 'subjects/0/name': name('include "sluice.serviceAccountName" $') },
  },
  {
    kind: 'ConfigMap',
    slots: {
      'metadata/annotations/sluice~1document-sha256': value('include "sluice.document" . | sha256sum'),
      data: below('{{- toYaml (dict "gateway.yaml" (include "sluice.document" .)) | nindent N }}'),
    },
  },
  {
    kind: 'Service',
    slots: {
      'metadata/annotations': optional('.Values.service.annotations'),
      'spec/type': value('.Values.service.type'),
      'spec/externalTrafficPolicy': when(
        '.Values.service.externalTrafficPolicy',
        value('.Values.service.externalTrafficPolicy'),
      ),
      'spec/loadBalancerClass': items(
        '{{- with $facts.serviceOptions }}',
        '{{- toYaml . | nindent 2 }}',
        '{{- end }}',
      ),
      'spec/selector': SELECTOR,
      'spec/ports': block('$facts.servicePorts'),
    },
  },
  {
    kind: 'Service',
    suffix: '-metrics',
    condition: 'if $facts.metricsPort',
    slots: {
      'metadata/labels': below(
        '{{- include "sluice.labels" . | nindent N }}',
        'app.kubernetes.io/component: metrics',
      ),
      'spec/selector': SELECTOR,
      'spec/ports/0/port': value('$facts.metricsPort'),
    },
  },
  {
    kind: 'NetworkPolicy',
    condition: 'if .Values.networkPolicy.enabled',
    slots: {
      'spec/podSelector/matchLabels': SELECTOR,
      'spec/ingress/0': items(
        '- ports:',
        '    {{- toYaml $facts.listenerPorts | nindent 8 }}',
        '  {{- with .Values.networkPolicy.clients }}',
        '  from:',
        '    {{- toYaml . | nindent 8 }}',
        '  {{- end }}',
      ),
      'spec/ingress/1': items(
        '{{- with $facts.supervisorPorts }}',
        '- from:',
        '    - podSelector: {}',
        '    - namespaceSelector:',
        '        matchLabels:',
        '          kubernetes.io/metadata.name: {{ $.Values.networkPolicy.monitoringNamespace | quote }}',
        '  ports:',
        '    {{- toYaml . | nindent 8 }}',
        '{{- end }}',
      ),
      'spec/egress': below(
        '{{- toYaml $facts.egress | nindent N }}',
        '{{- with .Values.networkPolicy.egress }}',
        '{{- toYaml . | nindent N }}',
        '{{- end }}',
      ),
    },
  },
  { kind: 'Deployment', slots: DEPLOYMENT_SLOTS },
  {
    kind: 'PodDisruptionBudget',
    condition: 'if .Values.podDisruptionBudget.enabled',
    slots: {
      'spec/maxUnavailable': items(
        '{{- if ne (toString .Values.podDisruptionBudget.minAvailable) "" }}',
        'minAvailable: {{ .Values.podDisruptionBudget.minAvailable }}',
        '{{- else }}',
        'maxUnavailable: {{ .Values.podDisruptionBudget.maxUnavailable }}',
        '{{- end }}',
      ),
      'spec/selector/matchLabels': SELECTOR,
    },
  },
  {
    kind: 'HorizontalPodAutoscaler',
    condition: 'if .Values.autoscaling.enabled',
    slots: {
      'spec/minReplicas': value('.Values.replicaCount'),
      'spec/behavior': block('$facts.behavior'),
      'spec/maxReplicas': value('.Values.autoscaling.maxReplicas'),
      'spec/metrics/0/resource/target/averageUtilization': value(
        '.Values.autoscaling.targetCPUUtilizationPercentage',
      ),
      'spec/metrics/1': items(
        '{{- with .Values.autoscaling.targetRequestsInFlight }}',
        '- type: Pods',
        '  pods:',
        '    metric:',
        '      name: gw_requests_in_flight',
        '    target:',
        '      type: AverageValue',
        '      averageValue: {{ . | quote }}',
        '{{- end }}',
      ),
    },
  },
  {
    kind: 'ServiceMonitor',
    condition: 'if .Values.monitoring.enabled',
    slots: {
      'metadata/labels': MONITOR_LABELS,
      'spec/selector/matchLabels': below(
        '{{- include "sluice.selectorLabels" . | nindent N }}',
        'app.kubernetes.io/component: metrics',
      ),
      'spec/endpoints/0/interval': value('.Values.monitoring.interval'),
    },
  },
  {
    kind: 'PrometheusRule',
    condition: 'if .Values.monitoring.enabled',
    slots: { 'metadata/labels': MONITOR_LABELS },
  },
]

/** Returns the chart's templates by file name. */
export function chartTemplates() {
  const objects = gatewayObjects(DOCUMENT, SETTINGS).objects
  const autoscaler = gatewayObjects(DOCUMENT, AUTOSCALED).objects.filter(({ kind }) =>
    kind.startsWith('Horizontal'),
  )
  return new Map(
    ROWS.map(({ kind, suffix = '', slots = {}, condition = null, each = null }) => {
      const object = [...objects, ...autoscaler].find((one) => {
        return one.kind === kind && one.metadata.name.endsWith(`slot-name${suffix}`)
      })
      const text = templateOf(object, { slots: { ...LABELS, ...slots }, texts: TEXTS, condition, each })
      return [`${kind.toLowerCase()}${suffix}.yaml`, text]
    }),
  )
}
