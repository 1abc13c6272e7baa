import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parseAllDocuments } from 'yaml'
import { ALERTS } from './alerts.js'
import { gatewayObjects } from './gateway-objects.js'
import { CLUSTER_DNS } from './network.js'
import type { KubernetesObject } from './object.js'
import { objectsYaml } from './object.js'
import { ObjectsError } from './raw-document.js'
import type { ObjectSettings } from './settings.js'
import { TIERS } from './settings.js'

const SETTINGS: ObjectSettings = {
  name: 'edge',
  namespace: 'gateways',
  managedBy: 'gw',
  image: 'sluice:1',
  tier: 'W2',
  replicas: 3,
}
/** Egress rule for the cluster DNS. */
const DNS = {
  to: CLUSTER_DNS,
  ports: [
    { port: 53, protocol: 'UDP' },
    { port: 53, protocol: 'TCP' },
  ],
}
const BEGIN = 'version: 1\nlisteners: [{ address: ":8080", health: true }]\n'

function made(document = BEGIN, settings: Partial<ObjectSettings> = {}): readonly KubernetesObject[] {
  return gatewayObjects(document, { ...SETTINGS, ...settings }).objects
}

function one(objects: readonly KubernetesObject[], kind: string): KubernetesObject {
  const found = objects.filter((object) => object.kind === kind)
  assert.equal(found.length, 1, kind)
  return found[0]!
}

/** Returns the value at a path of keys and list positions. */
function at(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce((part: unknown, key) => (part as Record<string, unknown> | undefined)?.[key], value)
}

function podOf(document?: string, settings?: Partial<ObjectSettings>): unknown {
  return at(one(made(document, settings), 'Deployment'), 'spec.template.spec')
}

function egressOf(document: string): unknown {
  return at(one(made(document, { secret: 's' }), 'NetworkPolicy'), 'spec.egress')
}

test('a gateway has a service account, ConfigMap, Service, NetworkPolicy, Deployment and disruption budget', () => {
  const objects = made()
  assert.deepEqual(
    objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`),
    ['ServiceAccount', 'ConfigMap', 'Service', 'NetworkPolicy', 'Deployment', 'PodDisruptionBudget'].map(
      (kind) => `${kind} gateways/edge`,
    ),
  )
  const selector = at(one(objects, 'Deployment'), 'spec.selector.matchLabels')
  const labels = at(one(objects, 'Deployment'), 'spec.template.metadata.labels') as object
  for (const kind of ['NetworkPolicy', 'PodDisruptionBudget']) {
    const chosen = at(one(objects, kind), kind === 'NetworkPolicy' ? 'spec.podSelector' : 'spec.selector')
    assert.deepEqual(at(chosen, 'matchLabels'), selector)
  }
  assert.deepEqual(at(one(objects, 'Service'), 'spec.selector'), selector)
  assert.deepEqual({ ...labels, ...(selector as object) }, labels)
})

test('pods have no privileges: no root, no capabilities, no token, a read-only root file system', () => {
  const pod = podOf()
  assert.equal(at(pod, 'automountServiceAccountToken'), false)
  assert.equal(at(pod, 'securityContext.runAsNonRoot'), true)
  assert.deepEqual(at(pod, 'securityContext.seccompProfile'), { type: 'RuntimeDefault' })
  assert.deepEqual(at(pod, 'containers.0.securityContext'), {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  })
  assert.equal(at(pod, 'containers.0.volumeMounts.0.readOnly'), true)
})

test('each tier sets CPUs and memory, unless overridden', () => {
  for (const [tier, { cpus, memoryMib }] of Object.entries(TIERS)) {
    const container = at(podOf(BEGIN, { tier: tier as 'W1' }), 'containers.0')
    const amounts = { cpu: String(cpus), memory: `${memoryMib / 1024}Gi` }
    assert.deepEqual(at(container, 'resources'), { requests: amounts, limits: amounts })
  }
  const resources = { limits: { memory: '1Gi' } }
  assert.deepEqual(at(podOf(BEGIN, { resources }), 'containers.0.resources'), resources)
})

test('platform settings replace the defaults, and probe settings override single values', () => {
  const settings = {
    sidecars: [{ name: 'shipper' }],
    readinessProbe: { periodSeconds: 2 },
    terminationGracePeriodSeconds: 300,
    ephemeralStorage: '2Gi',
    tmpSizeLimit: '64Mi',
    labels: { team: 'edge', 'app.kubernetes.io/name': 'other' },
    topologySpreadConstraints: [{ topologyKey: 'rack' }],
  }
  const pod = podOf(BEGIN, settings)
  assert.deepEqual(at(pod, 'containers.1'), { name: 'shipper' })
  const { httpGet: _, ...times } = at(pod, 'containers.0.readinessProbe') as { httpGet: unknown }
  assert.deepEqual(times, { periodSeconds: 2, timeoutSeconds: 3, failureThreshold: 2 })
  assert.equal(at(pod, 'terminationGracePeriodSeconds'), 300)
  assert.equal(
    (at(pod, 'containers.0.resources.limits') as Record<string, string>)['ephemeral-storage'],
    '2Gi',
  )
  assert.deepEqual(at(pod, 'volumes.2'), { name: 'tmp', emptyDir: { sizeLimit: '64Mi' } })
  assert.deepEqual(at(pod, 'topologySpreadConstraints'), [{ topologyKey: 'rack' }])
  for (const { metadata } of made(BEGIN, settings))
    assert.deepEqual([metadata.labels['team'], metadata.labels['app.kubernetes.io/name']], ['edge', 'sluice'])
})

test('the grace period covers the preStop sleep, the drain and the flush of the log', () => {
  const times = (document: string): unknown[] => {
    const pod = podOf(document)
    return [at(pod, 'containers.0.lifecycle.preStop.sleep.seconds'), at(pod, 'terminationGracePeriodSeconds')]
  }
  assert.deepEqual(times(BEGIN), [5, 5 + 30 + 8 + 2])
  assert.deepEqual(times(`${BEGIN}drain: { delay: 1500ms, timeout: 2m }`), [4, 4 + 132])
  assert.deepEqual(times(`${BEGIN}drain: { delay: 10s, timeout: 0s }`), [undefined, 20])
})

test('a drain timeout that is a reference is rejected', () => {
  assert.throws(() => made(`${BEGIN}drain: { timeout: "\${env:T:-5s}" }`), ObjectsError)
})

test('probes use the metrics address, else a listener with health, else the admin API', () => {
  const probe = (document: string): unknown => at(podOf(document), 'containers.0.readinessProbe.httpGet')
  assert.deepEqual(probe(`${BEGIN}metrics: { address: ":9902" }`), {
    path: '/readyz',
    port: 'metrics',
    scheme: 'HTTP',
  })
  assert.deepEqual(probe(BEGIN), { path: '/-/readyz', port: 'http', scheme: 'HTTP' })
  const listeners = `version: 1
listeners:
  - { address: ":1", health: true, proxyProtocol: true, trustedProxies: [10.0.0.0/8] }
  - { address: ":2", health: true, tls: { certFile: /a, keyFile: /b, clientCaFile: /c } }
  - { address: "127.0.0.1:3", health: true }
  - { address: ":4", health: true, tls: { certFile: /a, keyFile: /b } }
`
  assert.deepEqual(probe(listeners), { path: '/-/readyz', port: 'https-4', scheme: 'HTTPS' })
  const admin =
    'version: 1\nlisteners: [{ address: ":1" }]\nadmin: { address: ":9901", tls: { certFile: /a, keyFile: /b } }'
  assert.deepEqual(probe(admin), { path: '/readyz', port: 'admin', scheme: 'HTTPS' })
})

test('a document without reachable listeners or probes is rejected with the fix', () => {
  for (const [document, remedy] of [
    ['version: 1', /use for example listeners: \[\{ address: ':8080' \}\]/],
    ['version: 1\nlisteners: [{ address: "127.0.0.1:8080", health: true }]', /no listener is reachable/],
    ['version: 1\nlisteners: [{ address: ":8080" }]', /add metrics: \{ address: ':9902' \}/],
    ['version: 1\nlisteners: [{ address: ":0" }]', /use a fixed port/],
    ['version: 1\nlisteners: [{ address: ":${env:PORT}" }]', /listeners\[0\]\.address/],
    ['{', /invalid YAML/],
    [`${BEGIN}# ${'x'.repeat(1_000_000)}`, /but a ConfigMap holds 1,000,000; use a controller/],
  ] as const) {
    assert.throws(() => made(document), remedy)
  }
  assert.throws(() => made(BEGIN, { name: 'Edge' }), /not a valid gateway name/)
  assert.throws(() => made(BEGIN, { namespace: 'a/b' }), /not a valid namespace name/)
  assert.throws(() => made(BEGIN, { monitoring: {} }), /metrics: \{ address/)
})

test('the Service has the ports 80 and 443, unless another listener uses them', () => {
  const ports = (document: string): unknown =>
    (at(one(made(document), 'Service'), 'spec.ports') as { name: string; port: number }[]).map(
      ({ name, port }) => `${name} ${port}`,
    )
  const tls = 'tls: { certFile: /a, keyFile: /b }'
  assert.deepEqual(
    ports(
      `version: 1\nlisteners: [{ address: ":8080", health: true }, { address: ":8443", ${tls} }, { address: ":9000" }]`,
    ),
    ['http 80', 'https 443', 'http-9000 9000'],
  )
  assert.deepEqual(ports(`version: 1\nlisteners: [{ address: ":8080", health: true }, { address: ":80" }]`), [
    'http 8080',
    'http-80 80',
  ])
  assert.deepEqual(
    at(podOf('version: 1\nlisteners: [{ address: ":80", health: true }]'), 'securityContext.sysctls'),
    [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '80' }],
  )
})

test('IPv4 and IPv6 addresses with the same port share a pod port', () => {
  const document = 'version: 1\nlisteners: [{ address: ":80" }, { address: "[::]:80", health: true }]'
  const objects = made(document)
  assert.equal((at(one(objects, 'Service'), 'spec.ports') as unknown[]).length, 1)
  const container = at(one(objects, 'Deployment'), 'spec.template.spec.containers.0')
  assert.deepEqual(at(container, 'ports'), [{ name: 'http', containerPort: 80, protocol: 'TCP' }])
  assert.equal(at(container, 'readinessProbe.httpGet.port'), 'http')
})

test('the ConfigMap contains the unchanged document and its digest, and a new digest replaces the pods', () => {
  const document = `${BEGIN}# a comment\n`
  const sha256 = createHash('sha256').update(document).digest('hex')
  const objects = made(document)
  const configMap = one(objects, 'ConfigMap')
  assert.deepEqual(configMap['data'], { 'gateway.yaml': document })
  assert.deepEqual(configMap.metadata.annotations, { 'sluice/document-sha256': sha256 })
  const pods = one(objects, 'Deployment')
  assert.deepEqual(at(pods, 'spec.template.metadata.annotations'), { 'checksum/document': sha256 })
  const kept = made(document, { replacedFor: 'before' })
  assert.deepEqual(at(one(kept, 'Deployment'), 'spec.template.metadata.annotations'), {
    'checksum/document': 'before',
  })
})

const REFERRING = `${BEGIN}
routes:
  - id: r
    respond: { body: "\${env:TOKEN} $\${env:ESCAPED}" } # \${env:COMMENT}
    policies:
      - { use: basic-auth, with: { users: [{ name: a, password: "\${file:users/root.scrypt}" }] } }
upstreams:
  u: { targets: ["https://10.0.0.1"], tls: { caFile: tls/ca.crt } }
log: { geo: { file: /data/places.mmdb }, file: { dir: records } }
state: { url: "redis://10.0.0.2", password: "\${env:PASSWORD}", username: "\${env:NAME:-a}" }
`

test('values are references to the Secret, and no local value is in any object', (t) => {
  process.env['PASSWORD'] = 'Zq7-of-this-machine'
  t.after(() => delete process.env['PASSWORD'])
  const objects = made(REFERRING, { secret: 'values', fileSecrets: { tls: 'upstream-tls' } })
  assert.ok(!JSON.stringify(objects).includes('Zq7'))
  const pod = at(one(objects, 'Deployment'), 'spec.template.spec')
  const env = at(pod, 'containers.0.env')
  assert.deepEqual(
    env,
    ['NAME', 'PASSWORD', 'TOKEN'].map((key) => ({
      name: key,
      valueFrom: { secretKeyRef: { name: 'values', key, optional: true } },
    })),
  )
  assert.deepEqual((at(pod, 'volumes.0.projected.sources') as unknown[]).slice(1), [
    { secret: { name: 'upstream-tls', items: [{ key: 'ca.crt', path: 'tls/ca.crt' }], optional: true } },
    {
      secret: {
        name: 'values',
        items: [{ key: 'users.root.scrypt', path: 'users/root.scrypt' }],
        optional: true,
      },
    },
  ])
})

test('references need a Secret, unless they have defaults or extraEnv sets their values', () => {
  assert.throws(() => made(REFERRING), /specify the Secret that contains/)
  const defaulted = `${BEGIN}environment: "\${env:STAGE:-test}"`
  assert.ok(made(defaulted).length > 0)
  const extraEnv = [{ name: 'STAGE', value: 'live' }]
  const env = at(podOf(`${BEGIN}environment: "\${env:STAGE}"`, { extraEnv, secret: 's' }), 'containers.0.env')
  assert.deepEqual(env, extraEnv)
})

test('a file outside the folder of the document, or with an invalid key name, is rejected', () => {
  for (const path of ['../a.txt', 'a/../../b.txt', 'a b.txt', '..']) {
    const document = `${BEGIN}routes: [{ id: r, respond: { body: "\${file:${path}}" } }]`
    assert.throws(() => made(document, { secret: 's' }), ObjectsError, path)
  }
})

test('a document with a secret is rejected, but the digest of a token is allowed', () => {
  const users = 'policies: [{ id: p, use: basic-auth, with: { users: [{ name: a, password: Zq7-secret }] } }]'
  assert.throws(
    () => made(`${BEGIN}${users}`),
    (error: Error) =>
      error.message.startsWith('policies[0].with.users[0].password is a secret') &&
      !error.message.includes('Zq7'),
  )
  assert.ok(made(`${BEGIN}admin: { tokens: [{ id: a, sha256: ${'ab'.repeat(32)} }] }`).length > 0)
})

test('egress is allowed only to destinations in the document', () => {
  const namespace = (name: string): object => ({
    to: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } } }],
  })
  assert.deepEqual(egressOf(BEGIN), [DNS])
  assert.deepEqual(
    egressOf(`${BEGIN}
upstreams:
  a: { targets: ["http://10.0.0.5:9000", { url: "https://[fd00::1]" }, "http://127.0.0.1:1", "http://orders"] }
  b: { targets: ["http://stock.shop.svc.cluster.local:81", "https://api.example.com", "http://\${env:X}:5"] }
  c: { targets: ["http://far.example.org:7"], proxy: { url: "http://10.0.0.9:3128" } }
log: { outputs: [{ id: s, sink: syslog, syslog: { address: "udp://10.0.0.6" } }, { id: k, sink: kafka, kafka: { brokers: ["10.0.0.10:9093"], topic: t } }, { id: e, sink: elasticsearch, elasticsearch: { nodes: ["http://elastic.logging:9200"] } }] }
state: { cluster: [redis://valkey.example.net, "rediss://10.0.0.7:7000", redis://valkey.store.svc] }
cache: { url: http://cache.example.net:9910, serve: { persist: { url: rediss://10.0.0.8:6380 } } }
`),
    [
      DNS,
      { to: [{ ipBlock: { cidr: '10.0.0.10/32' } }], ports: [{ port: 9093, protocol: 'TCP' }] },
      { to: [{ ipBlock: { cidr: '10.0.0.5/32' } }], ports: [{ port: 9000, protocol: 'TCP' }] },
      { to: [{ ipBlock: { cidr: '10.0.0.6/32' } }], ports: [{ port: 514, protocol: 'UDP' }] },
      { to: [{ ipBlock: { cidr: '10.0.0.7/32' } }], ports: [{ port: 7000, protocol: 'TCP' }] },
      { to: [{ ipBlock: { cidr: '10.0.0.8/32' } }], ports: [{ port: 6380, protocol: 'TCP' }] },
      { to: [{ ipBlock: { cidr: '10.0.0.9/32' } }], ports: [{ port: 3128, protocol: 'TCP' }] },
      { to: [{ ipBlock: { cidr: 'fd00::1/128' } }], ports: [{ port: 443, protocol: 'TCP' }] },
      namespace('gateways'),
      namespace('logging'),
      namespace('shop'),
      namespace('store'),
      { ports: [443, 6379, 9200, 9910].map((port) => ({ port, protocol: 'TCP' })) },
    ],
  )
})

test('egress is allowed to the servers of policies', () => {
  const document = `${BEGIN}
policies:
  - { id: keys, use: jwt, with: { jwks: { url: "https://keys.example.com/jwks" }, issuers: ["https://issuer.example.com:1"] } }
  - { id: asked, use: forward-auth, with: { url: "\${env:URL:-http://a}" } }
routes: [{ id: r, policies: [{ use: api-call, with: { calls: [{ name: a, url: "http://{{vars.a}}.example.com", origins: ["http://10.0.0.5:9000"] }] } }] }]
`
  assert.deepEqual(egressOf(document), [
    DNS,
    { to: [{ ipBlock: { cidr: '10.0.0.5/32' } }], ports: [{ port: 9000, protocol: 'TCP' }] },
    { ports: [{ port: 443, protocol: 'TCP' }] },
  ])
  const { notes } = gatewayObjects(document, SETTINGS)
  assert.deepEqual(notes.length, 1)
  assert.match(notes[0]!, /to policies\[1\], whose address is not in the document/)
})

test('the URL of a target with service discovery adds no egress rule', () => {
  const target = '{ url: "https://orders.example.com", service: "k8s://orders.shop:https" }'
  const rules = egressOf(`${BEGIN}upstreams: { a: { targets: [${target}] } }`) as unknown[]
  assert.equal(rules.length, 3)
  assert.deepEqual(
    rules.slice(1).map((rule) => /shop|443,.*6443/.exec(JSON.stringify(rule))?.[0].slice(0, 4)),
    ['shop', '443,'],
  )
})

test('unknown destinations stay closed and are reported', () => {
  const document = `${BEGIN}upstreams: { a: { targets: ["\${env:URL:-http://a}"] } }\nlog: { sink: file, file: { dir: /records } }`
  const { notes } = gatewayObjects(document, SETTINGS)
  assert.match(notes.join('\n'), /upstreams\.a\.targets\[0\], whose address is not in the document/)
  assert.match(notes.join('\n'), /log\.file\.dir is '\/records'/)
  assert.deepEqual(gatewayObjects(document, { ...SETTINGS, network: null }).notes.length, 1)
})

test('admin API and metrics are open to the own and the monitoring namespace, listeners to all', () => {
  const document = `${BEGIN}metrics: { address: ":9902" }`
  const [clients, observers] = at(one(made(document), 'NetworkPolicy'), 'spec.ingress') as unknown[]
  assert.deepEqual(clients, { ports: [{ port: 8080, protocol: 'TCP' }] })
  assert.deepEqual(at(observers, 'ports'), [{ port: 9902, protocol: 'TCP' }])
  assert.equal((at(observers, 'from') as unknown[]).length, 2)
  const from = [{ ipBlock: { cidr: '10.0.0.0/8' } }]
  const narrowed = one(made(document, { network: { clients: from } }), 'NetworkPolicy')
  assert.deepEqual(at(narrowed, 'spec.ingress.0.from'), from)
})

test('service discovery gets a token and permissions for EndpointSlices of its namespaces', () => {
  const objects = made(`${BEGIN}upstreams: { a: { targets: ["k8s://orders.shop:8080"] } }`)
  assert.deepEqual(at(one(objects, 'Role'), 'rules'), [
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['get', 'list', 'watch'] },
  ])
  assert.equal(one(objects, 'Role').metadata.namespace, 'shop')
  assert.equal(one(objects, 'RoleBinding').metadata.namespace, 'shop')
  assert.deepEqual(one(objects, 'RoleBinding')['subjects'], [
    { kind: 'ServiceAccount', name: 'edge', namespace: 'gateways' },
  ])
  assert.equal(at(one(objects, 'Deployment'), 'spec.template.spec.automountServiceAccountToken'), true)
})

test('an autoscaler controls the number of pods', () => {
  const objects = made(BEGIN, { autoscaling: { maxReplicas: 9, requestsInFlight: 200 } })
  assert.equal(at(one(objects, 'Deployment'), 'spec.replicas'), undefined)
  const autoscaler = one(objects, 'HorizontalPodAutoscaler')
  assert.deepEqual([at(autoscaler, 'spec.minReplicas'), at(autoscaler, 'spec.maxReplicas')], [3, 9])
  assert.deepEqual(at(autoscaler, 'spec.metrics.1.pods'), {
    metric: { name: 'gw_requests_in_flight' },
    target: { type: 'AverageValue', averageValue: '200' },
  })
})

test('the data volume fits the maximum size of the traffic log', () => {
  const limit = (log: string): unknown => at(podOf(`${BEGIN}log: ${log}`), 'volumes.1.emptyDir.sizeLimit')
  assert.equal(limit('{ sink: none }'), '256Mi')
  assert.equal(limit('{}'), '1280Mi')
  assert.equal(limit('{ file: { maxBytes: 100mb }, targets: [] }'), '356Mi')
  assert.equal(
    limit('{ outputs: [{ id: a, sink: stdout, stdout: { spool: { maxBytes: 1gb } } }] }'),
    '1536Mi',
  )
  const volume = { persistentVolumeClaim: { claimName: 'records' } }
  assert.deepEqual(at(podOf(BEGIN, { dataVolume: volume }), 'volumes.1'), { name: 'data', ...volume })
})

test('alerts use existing metrics, restricted to this gateway', () => {
  const reference = readFileSync(new URL('../../../../../docs/reference/metrics.md', import.meta.url), 'utf8')
  const rules = one(
    made(`${BEGIN}metrics: { address: ":9902" }`, { monitoring: { labels: { release: 'p' } } }),
    'PrometheusRule',
  )
  assert.equal(rules.metadata.labels['release'], 'p')
  const texts = (at(rules, 'spec.groups.0.rules') as { expr: string }[]).map(({ expr }) => expr)
  assert.equal(texts.length, ALERTS.length)
  for (const text of texts) {
    // Prometheus itself adds `up`.
    const metrics = [...text.replace(/^up\b/, 'gw_ready').matchAll(/gw_\w+/g)]
    assert.ok(metrics.length > 0)
    for (const [metric] of metrics)
      assert.ok(reference.includes(`| \`${metric.replace(/_bucket$/, '')}\` |`), metric)
    const chosen = text.match(/(?:gw_\w+|^up)\{namespace="gateways",job="edge-metrics"/g) ?? []
    assert.equal(chosen.length, metrics.length, text)
  }
})

test('the YAML parses to the same objects, and the document in it is readable', () => {
  const document = `${BEGIN}# 'quotes' and "others", a line that is longer than the eighty characters of most terminals, and then some\n`
  const objects = made(document, { autoscaling: { maxReplicas: 4 } })
  const text = objectsYaml(objects)
  assert.deepEqual(
    parseAllDocuments(text).map((part) => part.toJS()),
    JSON.parse(JSON.stringify(objects)),
  )
  assert.ok(text.includes("\n    # 'quotes' and"))
})

test('no character of a document is a line break for other YAML parsers', () => {
  const document = `${BEGIN}# a\u2028immutable: true\n# b\u0085kind: Secret\n`
  const text = objectsYaml(made(document))
  assert.doesNotMatch(text, /[\u0085\u2028\u2029]/)
  const configMap = parseAllDocuments(text)
    .map((part) => part.toJS())
    .find(({ kind }) => kind === 'ConfigMap')
  assert.deepEqual(configMap.data, { 'gateway.yaml': document })
})

test('a document with a circular alias is rejected', () => {
  assert.throws(() => made(`${BEGIN}x: &a [*a]\n`), /circular alias/)
})
