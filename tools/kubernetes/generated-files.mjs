import { readFileSync } from 'node:fs'
import { parse, stringify } from 'yaml'
import { chartDefaults, chartValues } from '../../packages/cli/dist/kubernetes/objects/chart-facts.js'
import { gatewayObjects } from '../../packages/cli/dist/kubernetes/objects/gateway-objects.js'
import { alertRulesWith } from '../../packages/cli/dist/kubernetes/objects/monitoring.js'
import { objectsYaml } from '../../packages/cli/dist/kubernetes/objects/object.js'
import { TIERS } from '../../packages/cli/dist/kubernetes/objects/settings.js'

const DEPLOY = new URL('../../deploy/', import.meta.url)
const CHART = new URL('helm/sluice/', DEPLOY)

/** Returns the values of the chart in its `values.yaml`. */
export const defaultValues = () => parse(readFileSync(new URL('values.yaml', CHART), 'utf8'))

/** Returns all generated files below `deploy`, by path. */
export function generatedFiles() {
  return new Map([...chartFiles(), ...manifests(), ['prometheus/alerts.yml', alertsFile()]])
}

/** Returns the URL of a generated file. */
export const fileOf = (path) => new URL(path, DEPLOY)

function* chartFiles() {
  yield ['helm/sluice/files/defaults.json', jsonFile(chartDefaults())]
  yield ['helm/sluice/files/facts.json', jsonFile(chartValues(defaultValues().document).facts)]
}

/** Returns the alerts for a Prometheus outside Kubernetes, whose scrape job is `sluice`. */
function alertsFile() {
  const groups = [{ name: 'sluice', rules: alertRulesWith('job="sluice"') }]
  return `# Generated, see CONTRIBUTING.md.\n${stringify({ groups }, { lineWidth: 0 })}`
}

const jsonFile = (value) => `${JSON.stringify(value, null, 2)}\n`

/** Returns plain manifests: one gateway per tier in a separate namespace, with the chart's document. */
function* manifests() {
  const { document } = defaultValues()
  const { version } = JSON.parse(readFileSync(new URL('../package.json', DEPLOY), 'utf8'))
  const settings = {
    name: 'sluice',
    namespace: 'sluice',
    managedBy: 'kubectl',
    image: `sluice:${version}`,
    replicas: 2,
    autoscaling: { maxReplicas: 6 },
    monitoring: {},
  }
  for (const tier of Object.keys(TIERS)) {
    const { objects } = gatewayObjects(document, { ...settings, tier })
    const [monitors, others] = [objects.filter(isMonitor), objects.filter((object) => !isMonitor(object))]
    yield [`kubernetes/sluice-${tier.toLowerCase()}.yaml`, objectsYaml([NAMESPACE, ...others])]
    yield ['kubernetes/monitoring.yaml', objectsYaml(monitors)]
  }
  const control = { url: 'https://control.example.com:9910', group: 'edge', tokenSecret: 'sluice-control' }
  const { objects } = gatewayObjects(document, { ...settings, tier: 'W2', control })
  const others = objects.filter((object) => !isMonitor(object))
  yield ['kubernetes/sluice-controlled.yaml', objectsYaml([NAMESPACE, ...others])]
}

const isMonitor = ({ apiVersion }) => apiVersion.startsWith('monitoring.coreos.com/')

/** A namespace that only accepts restricted pods. */
const NAMESPACE = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'sluice', labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
}
