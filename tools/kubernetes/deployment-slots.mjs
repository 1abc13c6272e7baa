import { below, block, included, items, name, optional, value, when } from './slots.mjs'

const POD = 'spec/template/spec'
const CONTAINER = `${POD}/containers/0`

/** Parts of the Deployment that the chart expresses differently. */
export const DEPLOYMENT_SLOTS = {
  'spec/replicas': when('not .Values.autoscaling.enabled', value('.Values.replicaCount')),
  'spec/strategy': block('$facts.strategy'),
  'spec/selector/matchLabels': included('sluice.selectorLabels'),
  'spec/template/metadata/labels': below(
    '{{- include "sluice.selectorLabels" . | nindent N }}',
    '{{- with .Values.podLabels }}',
    '{{- toYaml . | nindent N }}',
    '{{- end }}',
  ),
  'spec/template/metadata/annotations': below(
    '{{- if .Values.replacePodsOnChange }}',
    'checksum/document: {{ include "sluice.document" . | sha256sum }}',
    '{{- end }}',
    '{{- with .Values.podAnnotations }}',
    '{{- toYaml . | nindent N }}',
    '{{- end }}',
  ),
  [`${POD}/serviceAccountName`]: name('include "sluice.serviceAccountName" .'),
  [`${POD}/automountServiceAccountToken`]: value('gt (len $facts.serviceNamespaces) 0'),
  [`${POD}/imagePullSecrets`]: optional('.Values.imagePullSecrets'),
  [`${POD}/securityContext`]: below(
    '{{- toYaml .Values.podSecurityContext | nindent N }}',
    '{{- with $facts.sysctls }}',
    'sysctls:',
    '  {{- toYaml . | nindent 10 }}',
    '{{- end }}',
  ),
  [`${POD}/priorityClassName`]: when('.Values.priorityClassName', name('.Values.priorityClassName')),
  [`${POD}/terminationGracePeriodSeconds`]: value(
    '.Values.terminationGracePeriodSeconds | default $facts.gracePeriodSeconds',
  ),
  [`${POD}/dnsPolicy`]: when('.Values.dnsPolicy', value('.Values.dnsPolicy')),
  [`${POD}/dnsConfig`]: optional('.Values.dnsConfig'),
  [`${POD}/initContainers`]: optional('.Values.initContainers'),
  [`${POD}/containers/1`]: items('{{- with .Values.sidecars }}', '{{- toYaml . | nindent 8 }}', '{{- end }}'),
  [`${CONTAINER}/image`]: name('include "sluice.image" .'),
  [`${CONTAINER}/imagePullPolicy`]: value('.Values.image.pullPolicy'),
  [`${CONTAINER}/env`]: optional('concat $facts.environment .Values.extraEnv'),
  [`${CONTAINER}/envFrom`]: optional('.Values.envFrom'),
  [`${CONTAINER}/ports`]: block('$facts.containerPorts'),
  [`${CONTAINER}/resources`]: block('$facts.resources'),
  [`${CONTAINER}/securityContext`]: block('.Values.containerSecurityContext'),
  [`${CONTAINER}/startupProbe`]: block('$facts.startupProbe'),
  [`${CONTAINER}/readinessProbe`]: block('$facts.readinessProbe'),
  [`${CONTAINER}/livenessProbe`]: block('$facts.livenessProbe'),
  [`${CONTAINER}/lifecycle`]: optional('$facts.lifecycle'),
  [`${CONTAINER}/volumeMounts/3`]: items(
    '{{- with .Values.extraVolumeMounts }}',
    '{{- toYaml . | nindent 12 }}',
    '{{- end }}',
  ),
  [`${POD}/volumes/0/projected/sources/1`]: items(
    '{{- with concat $facts.fileSources .Values.secrets.files }}',
    '{{- toYaml . | nindent 14 }}',
    '{{- end }}',
  ),
  [`${POD}/volumes/1/emptyDir`]: {
    lines: (head, indent) => [
      `${indent}{{- if .Values.dataVolume }}`,
      `${indent}{{- toYaml .Values.dataVolume | nindent ${indent.length} }}`,
      `${indent}{{- else }}`,
      head,
      `${indent}  sizeLimit: {{ $facts.sizeLimit }}`,
      `${indent}{{- end }}`,
    ],
  },
  [`${POD}/volumes/2/emptyDir`]: value(
    'if .Values.tmpSizeLimit }}{ sizeLimit: {{ .Values.tmpSizeLimit | quote }} }{{ else }}{}{{ end',
  ),
  [`${POD}/volumes/3`]: items(
    '{{- with .Values.extraVolumes }}',
    '{{- toYaml . | nindent 8 }}',
    '{{- end }}',
  ),
  [`${POD}/topologySpreadConstraints`]: block('$facts.topologySpreadConstraints'),
  [`${POD}/nodeSelector`]: optional('.Values.nodeSelector'),
  [`${POD}/tolerations`]: optional('.Values.tolerations'),
  [`${POD}/affinity`]: optional('.Values.affinity'),
}
