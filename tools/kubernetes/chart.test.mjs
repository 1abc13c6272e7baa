import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parseAllDocuments } from 'yaml'
import { chartValues } from '../../packages/cli/dist/kubernetes/objects/chart-facts.js'
import { gatewayObjects } from '../../packages/cli/dist/kubernetes/objects/gateway-objects.js'
import { ALL_SETTINGS, ALL_VALUES, controllers, documents } from './cases.mjs'
import { defaultValues } from './generated-files.mjs'
import { objectMistakes } from './object-schemas.mjs'

// The chart combines facts of a document with values in Helm's language, the source of objects in TypeScript: these tests
// hold the two together.

const CHART = fileURLToPath(new URL('../../deploy/helm/sluice', import.meta.url))
const helm = process.env.SLUICE_HELM ?? 'helm'
const isThere = spawnSync(helm, ['version']).status === 0
const options = { skip: isThere ? false : 'needs helm; npm run services -- helm builds it, with Go 1.26' }

/** What `helm` says of the chart with these values. */
function run(command, values) {
  const args = [...command, '--kube-version', '1.34.0', '--values', '-']
  const { status, stdout, stderr } = spawnSync(helm, args, {
    input: JSON.stringify(values),
    encoding: 'utf8',
  })
  return { isGood: status === 0, text: stdout + stderr, stdout }
}

function rendered(values, release = 'edge', namespace = 'gateways') {
  const result = run(['template', release, CHART, '--namespace', namespace], values)
  assert.ok(result.isGood, result.text)
  return parseAllDocuments(result.stdout)
    .map((part) => part.toJS())
    .filter((object) => object !== null)
}

/** By kind and name, without what a chart alone says of itself. */
function comparable(objects) {
  const entries = JSON.parse(JSON.stringify(objects)).map((object) => {
    const { labels } = object.metadata
    delete labels['helm.sh/chart']
    delete labels['app.kubernetes.io/version']
    return [`${object.kind} ${object.metadata.namespace}/${object.metadata.name}`, object]
  })
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** The release of a chart may have another name than its objects. */
function ofRelease(objects, name, release) {
  const instance = `"app.kubernetes.io/instance":"${name}"`
  return JSON.parse(JSON.stringify(objects).replaceAll(instance, `"app.kubernetes.io/instance":"${release}"`))
}

test('helm finds nothing wrong with the chart', options, () => {
  for (const values of [{}, { ...ALL_VALUES, ...chartValues(documents.upstreams) }]) {
    const { isGood, text } = run(['lint', '--strict', CHART], values)
    assert.ok(isGood, text)
  }
})

for (const [name, document] of Object.entries(documents)) {
  test(
    `the chart makes of the document ${name} what the source of the manifests makes of it`,
    options,
    () => {
      const monitoring =
        name === 'metrics' ? { labels: { release: 'prometheus' }, interval: '10s' } : undefined
      const settings = { ...ALL_SETTINGS, ...(monitoring === undefined ? {} : { monitoring }) }
      const values = {
        ...ALL_VALUES,
        ...chartValues(document),
        monitoring: { enabled: monitoring !== undefined, ...monitoring },
      }
      const made = rendered(values)
      const { objects } = gatewayObjects(document, settings)
      assert.deepEqual(comparable(made), comparable(ofRelease(objects, 'edge-sluice', 'edge')))
      for (const object of made) assert.deepEqual(objectMistakes(object), [])
    },
  )
}

for (const [name, control] of Object.entries(controllers)) {
  test(`pods that a controller knows by a ${name} have no ConfigMap in chart and source`, options, () => {
    for (const document of [documents.references, documents.vault]) {
      const values = { ...ALL_VALUES, ...chartValues(document), control, vault: { audience: 'vault' } }
      const settings = { ...ALL_SETTINGS, control, vaultAudience: 'vault' }
      const { objects } = gatewayObjects(document, settings)
      const expected = comparable(ofRelease(objects, 'edge-sluice', 'edge'))
      for (const text of [document, '']) {
        const made = rendered({ ...values, document: text === '' ? '' : values.document })
        assert.deepEqual(comparable(made), expected)
        assert.ok(made.every(({ kind }) => kind !== 'ConfigMap'))
      }
    }
  })
}

test('the chart without values makes what the source makes without settings', options, () => {
  const { document, image } = defaultValues()
  for (const tier of ['W1', 'W2', 'W4', 'W8']) {
    const { objects } = gatewayObjects(document, {
      name: 'sluice',
      namespace: 'gateways',
      managedBy: 'Helm',
      image: `${image.repository}:0.1.0`,
      imagePullPolicy: 'IfNotPresent',
      tier,
      replicas: 2,
    })
    assert.deepEqual(comparable(rendered({ tier }, 'sluice')), comparable(objects))
  }
})

test('what values take away is not there', options, () => {
  const kinds = rendered({
    networkPolicy: { enabled: false },
    podDisruptionBudget: { enabled: false },
    serviceAccount: { create: false, name: 'theirs' },
    replacePodsOnChange: false,
    image: { digest: `sha256:${'a'.repeat(64)}` },
  })
  const names = kinds.map(({ kind }) => kind).sort()
  assert.deepEqual(names, ['ConfigMap', 'Deployment', 'Service', 'Service'])
  const { template } = kinds.find(({ kind }) => kind === 'Deployment').spec
  assert.equal(template.metadata.annotations ?? null, null)
  assert.equal(template.spec.serviceAccountName, 'theirs')
  assert.match(template.spec.containers[0].image, /^sluice@sha256:a+$/)
})

test('names that YAML takes for numbers or truth are names all the same', options, () => {
  const names = { fullnameOverride: '1e3', serviceAccount: { name: '7' }, priorityClassName: 'true' }
  const values = { ...ALL_VALUES, ...names, networkPolicy: { monitoringNamespace: '10' } }
  const followed = 'upstreams: { a: { targets: ["k8s://orders.12:1"] } }'
  for (const object of rendered({ ...values, ...chartValues(documents.metrics + followed) }, '007', '123')) {
    assert.deepEqual(objectMistakes(object), [])
    assert.equal(object.metadata.labels['app.kubernetes.io/instance'], '007')
    assert.match(object.metadata.namespace, /^12$|^123$/)
  }
})

test('documents and values from which no gateway can be made are refused with the remedy', options, () => {
  const refusals = [
    [{ document: '' }, /document is empty/],
    [{ document: documents.plain }, /facts are missing or belong to another document/],
    [{ ...chartValues(documents.plain), document: documents.times }, /facts .* belong to another document/],
    [chartValues(documents.references), /the document refers to .*set secrets\.name/],
    [{ ...chartValues(documents.plain), monitoring: { enabled: true } }, /Prometheus cannot reach/],
    [{ control: { url: 'https://control.example.com' } }, /control.url needs control.group/],
    [{ control: { ...controllers.token, tlsSecret: 'both' } }, /either control.tokenSecret or/],
    [{ control: { ...controllers.token, url: 'http://control' } }, /control.url/],
    [{ tier: 'W3' }, /tier/],
    [{ replicas: 3 }, /replicas/],
    [{ replicaCount: 7, autoscaling: { enabled: true } }, /maxReplicas is 6; use at least 7/],
    [{ service: { externalTrafficPolicy: 'Local' } }, /for service.type NodePort and LoadBalancer/],
    [{ fullnameOverride: 'a"\n  annotations: { a: "b' }, /fullnameOverride/],
    [{ priorityClassName: 'a\nhostNetwork: true' }, /priorityClassName/],
    [{ service: { type: 'None' } }, /type/],
    [{ image: { repositry: 'a' } }, /repositry/],
    [{ service: { loadBalancerIp: '10.0.0.1' } }, /loadBalancerIp/],
    [{ readinessProbe: { httpGet: {} } }, /httpGet/],
    [{ labels: { 'app.kubernetes.io/name': 'a' } }, /app.kubernetes.io/],
    [{ tmpSizeLimit: '64 MB' }, /tmpSizeLimit/],
  ]
  for (const [values, remedy] of refusals) {
    const { isGood, text } = run(['template', 'edge', CHART], values)
    assert.equal(isGood, false, JSON.stringify(values))
    assert.match(text, remedy)
  }
})
