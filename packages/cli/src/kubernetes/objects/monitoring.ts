import { ALERTS } from './alerts.js'
import type { DocumentFacts } from './document-facts.js'
import { type KubernetesObject, metadataOf, type ObjectMeta, selectorLabels } from './object.js'
import { ObjectsError } from './raw-document.js'
import type { MonitoringSettings, ObjectSettings } from './settings.js'

const SUFFIX = '-metrics'
/** Tells the Service of the metrics from that of the clients. */
const COMPONENT = { 'app.kubernetes.io/component': 'metrics' }

/** What Prometheus finds the pods by: a Service without an address of its own. */
export function metricsService(settings: ObjectSettings, port: number): KubernetesObject {
  const metadata = metadataOf(settings, SUFFIX)
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...metadata, labels: { ...metadata.labels, ...COMPONENT } },
    spec: {
      clusterIP: 'None',
      // A pod that is not ready is worth looking at.
      publishNotReadyAddresses: true,
      selector: selectorLabels(settings),
      ports: [{ name: 'metrics', port, targetPort: 'metrics', protocol: 'TCP' }],
    },
  }
}

/** What tells the Prometheus operator to scrape the pods, and when to call somebody. @throws ObjectsError without an address to scrape. */
export function monitors(
  facts: DocumentFacts,
  settings: ObjectSettings,
  { labels = {}, interval = '30s' }: MonitoringSettings,
): KubernetesObject[] {
  if (facts.metricsPort === null)
    throw new ObjectsError("Prometheus reaches no metrics; write metrics: { address: ':9902' }")
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

/** The alerts, asked of the pods of this gateway alone. */
function alertRules({ name, namespace }: ObjectSettings): object[] {
  const chosen = `{namespace="${namespace}",job="${name}${SUFFIX}"`
  return ALERTS.map(({ alert, expr, waits, severity, summary }) => ({
    alert,
    // Metrics stand with braces in the table, `{}` or with labels of their own.
    expr: expr.replaceAll(/\{(?=[^}])/g, `${chosen},`).replaceAll('{}', `${chosen}}`),
    for: waits,
    labels: { severity },
    annotations: { summary },
  }))
}
