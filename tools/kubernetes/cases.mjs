/** Documents that together cover everything that objects take from a document. */
export const documents = {
  vault:
    'version: 1\nlisteners: [{ address: ":8080", health: true }]\nvault: { address: "https://vault.example.com:8200", auth: { kubernetes: { role: gateway } } }\n',
  plain: 'version: 1\nlisteners: [{ address: ":8080", health: true }]\n',
  metrics:
    'version: 1\nlisteners: [{ address: "*:80" }, { address: "127.0.0.1:1" }]\nmetrics: { address: ":9902" }\n',
  admin: `version: 1
listeners: [{ address: ":8443", tls: { certFile: /a, keyFile: /b, clientCaFile: /c }, engine: node, health: true }]
admin: { address: ":9901", tls: { certFile: /a, keyFile: /b } }
`,
  ports: `version: 1
listeners:
  - { address: ":8080", health: true, engine: node, proxyProtocol: true, trustedProxies: [10.0.0.0/8] }
  - { address: ":8081", health: true }
  - { address: "0.0.0.0:443", tls: { certFile: /a, keyFile: /b } }
  - { address: "[::]:8443", tls: { certFile: /a, keyFile: /b } }
workers: 3
`,
  families: `version: 1
listeners: [{ address: ":080" }, { address: "[::]:80", health: true }, { address: "0.0.0.0:8081" }]
upstreams: { a: { targets: ["http://orders.example.org:09000"] } }
`,
  times: 'version: 1\nlisteners: [{ address: ":1", health: true }]\ndrain: { delay: 1.5s, timeout: 2m }\n',
  long: 'version: 1\nlisteners: [{ address: ":1", health: true }]\ndrain: { delay: 10m, timeout: 1h }\n',
  references: `version: 1
listeners: [{ address: ":8080", health: true }]
environment: "\${env:STAGE:-test}" # \${env:COMMENT}
routes:
  - { id: r, respond: { body: "\${env:TOKEN} $\${env:ESCAPED} \${env:STAGE} <\${env:A}>" } }
policies:
  - { id: p, use: basic-auth, with: { users: [{ name: a, password: "\${file:users/root.scrypt}" }, { name: b, password: "\${file:/run/b}" }] } }
`,
  log: `version: 1
listeners: [{ address: ":8080", health: true }]
log:
  sink: elasticsearch
  elasticsearch: { nodes: ["http://elastic.logging:9200", "https://[fd00::9]"], spool: { maxBytes: 1.5gb } }
  targets:
    - { id: a, sink: syslog, syslog: { address: "udp://10.0.0.6" } }
    - { id: b, sink: syslog, syslog: { address: "tls://logs.example.org", spool: { maxBytes: "\${env:ROOM:-1gb}" } } }
    - { id: c, sink: webhook, webhook: { url: "https://hooks.example.org:8443/a?b=c" } }
    - { id: e, sink: kafka, kafka: { brokers: ["kafka-0.kafka:9092"], topic: traffic } }
    - { id: d, sink: file, file: { maxBytes: 300kb } }
`,
  targets:
    'version: 1\nlisteners: [{ address: ":8080", health: true }]\nlog: { targets: [{ id: a, sink: stdout }] }\nstate: { cluster: ["rediss://10.0.0.7:7000", "rediss://valkey.store.svc"] }\ncache: { serve: { persist: { url: "rediss://10.0.0.8:7001" } } }\n',
  upstreams: `version: 1
listeners: [{ address: ":8080", health: true }]
upstreams:
  b: { targets: ["http://10.0.0.5:9000", { url: "https://10.0.0.5" }, "http://127.0.0.1:1", "http://localhost:2", "http://orders", "http://Orders.Shop"] }
  a: { targets: ["http://stock.shop.svc.cluster.local:81", "https://api.example.com", "http://\${env:X:-a}:5", { url: "http://x.example.com", srv: _a._tcp.x } ] }
  c: { targets: ["http://far.example.org:7"], proxy: { url: "http://10.0.0.9:3128" } }
  d: { targets: ["k8s://orders.shop:8080", "k8s://stock.warehouse:80", { url: "https://x.example.net:444", service: "k8s://x.depot:https" }], resolve: { servers: [10.0.0.53, "10.0.0.54:5353"] } }
state: { url: redis://valkey.example.net/0 }
cache: { url: "http://cache.caches:9300" }
`,
  policies: `version: 1
listeners: [{ address: ":8080", health: true }]
policies:
  - { id: a, use: jwt, with: { jwks: { url: "https://keys.example.com/jwks" } } }
  - { id: b, use: jwt, with: { jwks: { discovery: "http://idp.identity:8080" }, issuers: ["https://else.example.com:1"] } }
  - { id: c, use: cors, with: { origins: ["https://app.example.com:2"] } }
policyGroups:
  logins: [{ use: ldap, with: { urls: ["ldaps://Ldap.Directory", "ldap://10.0.0.7", "ldap://10.0.0.8:3389/"], userDn: "{{username}}" } }]
routes:
  - id: r
    policies:
      - a
      - { use: forward-auth, with: { url: "http://auth/check" } }
      - { use: api-call, with: { calls: [{ name: a, url: "http://facts.shop.svc:8080/{{consumer.id}}" }, { name: b, url: "https://{{vars.b}}.example.com/", origins: ["https://x.example.com:8443"] }] } }
      - { use: oauth2-introspection, with: { url: "https://10.0.0.8/introspect", clientId: a, clientSecret: "\${env:A}" } }
      - { use: backend-auth, with: { oauth2: { tokenUrl: "https://127.0.0.1/token", clientId: a } } }
      - { use: oidc, with: { issuer: "\${env:ISSUER:-https://a}" } }
    respond: { body: a }
`,
}

const BEHAVIOR = { scaleUp: { stabilizationWindowSeconds: 30 } }
const SERVICE = { type: 'LoadBalancer', annotations: { a: 'b' }, externalTrafficPolicy: 'Local' }
const OPTIONS = {
  loadBalancerClass: 'example.com/internal',
  loadBalancerSourceRanges: ['10.0.0.0/8'],
  allocateLoadBalancerNodePorts: false,
  ipFamilyPolicy: 'PreferDualStack',
  ipFamilies: ['IPv6', 'IPv4'],
  internalTrafficPolicy: 'Local',
  sessionAffinity: 'ClientIP',
  trafficDistribution: 'PreferClose',
}
/** Settings with the same name and shape in `gw` and the chart. */
const PLATFORM = {
  labels: { team: 'edge' },
  strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: 1 } },
  topologySpreadConstraints: [
    { maxSkew: 2, topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule', labelSelector: {} },
  ],
  initContainers: [{ name: 'proxy', image: 'proxy:1', restartPolicy: 'Always' }],
  sidecars: [{ name: 'shipper', image: 'shipper:1' }],
  startupProbe: { failureThreshold: 120, initialDelaySeconds: 2 },
  readinessProbe: { periodSeconds: 2 },
  livenessProbe: { timeoutSeconds: 9 },
  lifecycle: { preStop: { exec: { command: ['sleep', '9'] } } },
  terminationGracePeriodSeconds: 300,
  dnsPolicy: 'ClusterFirst',
  dnsConfig: { options: [{ name: 'ndots', value: '1' }] },
  envFrom: [{ configMapRef: { name: 'zone' } }],
  ephemeralStorage: '2Gi',
  tmpSizeLimit: '64Mi',
}

/** Connections to a controller: as settings and as values. */
export const controllers = {
  token: { url: 'https://control.example.com', group: 'edge-eu', tokenSecret: 'gateway-token' },
  certificate: { url: 'https://10.0.0.4:9910', group: 'edge', tlsSecret: 'gateway-tls', caSecret: 'ca' },
}

/** Every setting of `gw deploy kubernetes`. */
export const ALL_SETTINGS = {
  name: 'edge-sluice',
  namespace: 'gateways',
  managedBy: 'Helm',
  image: 'registry.example/sluice:7',
  imagePullPolicy: 'Always',
  imagePullSecrets: ['pull'],
  tier: 'W4',
  replicas: 3,
  secret: 'values',
  autoscaling: { maxReplicas: 9, cpuPercent: 55, requestsInFlight: 200, behavior: BEHAVIOR },
  network: {
    clients: [{ ipBlock: { cidr: '10.0.0.0/8' } }],
    monitoringNamespace: 'watch',
    dns: [{ podSelector: { matchLabels: { dns: 'x' } } }],
    apiServer: [{ ipBlock: { cidr: '10.9.0.1/32' } }],
    egress: [{ to: [{ ipBlock: { cidr: '10.1.0.0/16' } }] }],
  },
  disruptionBudget: { minAvailable: '60%' },
  service: { ...SERVICE, options: OPTIONS },
  ...PLATFORM,
  dataVolume: { persistentVolumeClaim: { claimName: 'records' } },
  extraEnv: [{ name: 'A', value: 'given' }],
  extraVolumes: [{ name: 'more', emptyDir: {} }],
  extraVolumeMounts: [{ name: 'more', mountPath: '/more' }],
  podAnnotations: { c: 'd' },
  podLabels: { e: 'f' },
  nodeSelector: { g: 'h' },
  tolerations: [{ key: 'i', operator: 'Exists' }],
  affinity: { nodeAffinity: {} },
  priorityClassName: 'high',
}

/** The same settings as chart values. */
export const ALL_VALUES = {
  fullnameOverride: 'edge-sluice',
  image: { repository: 'registry.example/sluice', tag: '7', pullPolicy: 'Always' },
  imagePullSecrets: [{ name: 'pull' }],
  tier: 'W4',
  replicaCount: 3,
  secrets: { name: 'values' },
  autoscaling: {
    enabled: true,
    maxReplicas: 9,
    targetCPUUtilizationPercentage: 55,
    targetRequestsInFlight: 200,
    behavior: BEHAVIOR,
  },
  networkPolicy: ALL_SETTINGS.network,
  podDisruptionBudget: { minAvailable: '60%' },
  service: { ...SERVICE, ...OPTIONS },
  ...PLATFORM,
  dataVolume: ALL_SETTINGS.dataVolume,
  extraEnv: ALL_SETTINGS.extraEnv,
  extraVolumes: ALL_SETTINGS.extraVolumes,
  extraVolumeMounts: ALL_SETTINGS.extraVolumeMounts,
  podAnnotations: ALL_SETTINGS.podAnnotations,
  podLabels: ALL_SETTINGS.podLabels,
  nodeSelector: ALL_SETTINGS.nodeSelector,
  tolerations: ALL_SETTINGS.tolerations,
  affinity: ALL_SETTINGS.affinity,
  priorityClassName: 'high',
}
