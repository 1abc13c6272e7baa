import { ALERTS } from './alerts.js'
import type { DocumentFacts } from './document-facts.js'
import {
  type KubernetesObject,
  metadataOf,
  type ObjectIdentity,
  type ObjectMeta,
  selectorLabels,
} from './object.js'
import { ObjectsError } from './raw-document.js'
import type { MonitoringSettings, ObjectSettings } from './settings.js'

const SUFFIX = '-metrics'
/** Label that distinguishes the metrics Service from the client Service. */
const COMPONENT = { 'app.kubernetes.io/component': 'metrics' }

/** Returns the headless Service through which Prometheus discovers the pods. */
export function metricsService(settings: ObjectSettings, port: number): KubernetesObject {
  const metadata = metadataOf(settings, SUFFIX)
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...metadata, labels: { ...metadata.labels, ...COMPONENT } },
    spec: {
      clusterIP: 'None',
      // Metrics of pods that are not ready matter too.
      publishNotReadyAddresses: true,
      selector: selectorLabels(settings),
      ports: [{ name: 'metrics', port, targetPort: 'metrics', protocol: 'TCP' }],
    },
  }
}

/** Returns the ServiceMonitor and the alerts. @throws ObjectsError if the document has no reachable metrics address */
export function monitors(
  facts: DocumentFacts,
  settings: ObjectSettings,
  { labels = {}, interval = '30s' }: MonitoringSettings,
): KubernetesObject[] {
  if (facts.metricsPort === null)
    throw new ObjectsError("Prometheus cannot reach the metrics; add metrics: { address: ':9902' }")
  const metadata = metadataOf(settings)
  const ours: ObjectMeta = { ...metadata, labels: { ...metadata.labels, ...labels } }
  return [
    {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'ServiceMonitor',
      metadata: ours,
      spec: {
        selector: { matchLabels: { ...selectorLabels(settings), ...COMPONENT } },
        endpoints: [{ port: 'metrics', path: '/metrics', interval }],
      },
    },
    {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'PrometheusRule',
      metadata: ours,
      spec: { groups: [{ name: 'sluice', rules: alertRules(settings) }] },
    },
  ]
}

/** Returns the alert rules, restricted to the pods of this gateway. */
export function alertRules({ name, namespace }: Pick<ObjectIdentity, 'name' | 'namespace'>): object[] {
  return alertRulesWith(`namespace="${namespace}",job="${name}${SUFFIX}"`)
}

/** Returns the alert rules, restricted to series with these labels. */
export function alertRulesWith(labels: string): object[] {
  const chosen = `{${labels}`
  return ALERTS.map(({ alert, expr, waits, severity, summary }) => ({
    alert,
    // In `ALERTS`, metrics have braces: `{}` or other labels.
    expr: expr.replaceAll(/\{(?=[^}])/g, `${chosen},`).replaceAll('{}', `${chosen}}`),
    for: waits,
    labels: { severity },
    annotations: { summary },
  }))
}
