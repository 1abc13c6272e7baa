/**
 * Rules for imports, as configuration of dependency-cruiser: the order of packages, the order of the folders in each
 * package, and no import loops. Types count, because a type that two files need of each other belongs below both.
 */

import { createRequire } from 'node:module'

// dependency-cruiser has no option for JSX, and its parser needs to be told.
const swc = createRequire(import.meta.resolve('../lint-tools/package.json'))('@swc/core')
const { parseFileSync } = swc
swc.parseFileSync = (file, options) => parseFileSync(file, { ...options, tsx: file.endsWith('.tsx') })

/** Packages of this repository that each package may import. */
const PACKAGES = {
  core: [],
  config: ['core'],
  policies: ['core'],
  'policies-xml': ['core', 'policies'],
  logger: ['core'],
  'control-client': ['core'],
  ui: ['core'],
  control: ['core', 'config', 'policies', 'control-client', 'ui'],
  gateway: ['core', 'config', 'control-client', 'ui'],
  cli: ['core', 'config', 'policies', 'policies-xml', 'logger', 'control-client', 'control', 'gateway'],
}

/** Files of `gateway` that may also import policies and logger: the composition roots, and tests of policies. */
const COMPOSITION =
  '^packages/gateway/src/(policies/|worker/(worker-log|open-sink|main)[.]|supervise/(metrics-push|documents/documents-main|records/log-reader)[.])'

/** Dependencies that only one place may use. */
const ONLY_IN = {
  'uWebSockets.js': '^(packages/gateway/src/listen/|bench/src/servers/(fault-)?origin-process[.])',
  undici: '^(packages/gateway/src/(upstream|supervise/vault)/|bench/src/agent/)',
}

/**
 * Folders in the order of their layers, the lowest first. A folder may import those in the groups before its own.
 * Folders of one group do not import each other. `.` stands for the files of the folder itself. A folder with less than
 * two entries needs no order.
 */
const LAYERS = {
  'packages/core/src': ['lib', 'http redaction yaml', 'contract', 'limits net state', 'geo', '.'],
  'packages/core/src/redaction': ['.', 'value-types'],
  'packages/config/src': [
    'diagnostic file',
    'condition',
    'plan',
    'grammar',
    'schema template',
    'read secrets',
    'check',
    'report',
    'reference',
    'resolve plugins policy',
    'planning',
    'semantics',
    'cases compare fragments load manual',
    'format lint',
    '.',
  ],
  'packages/config/src/lint': ['rules', '.'],
  'packages/policies/src': [
    'shared',
    'crypto',
    'engines',
    'identity',
    'content traffic transform',
    'auth',
    '.',
  ],
  'packages/policies/src/auth': [
    'api-key authorize backend-auth basic-auth forward-auth hmac-signature http-signature jwt ldap mtls oauth2-introspection oidc oidc-backchannel-logout',
  ],
  'packages/policies/src/content': [
    'content-filter decrypt encrypt json-schema jwe jws openapi redact sign verify',
  ],
  'packages/policies/src/content/content-filter': ['packs', '.'],
  'packages/policies/src/crypto': ['digest keys replay', 'cipher jose'],
  'packages/policies/src/engines': ['. deadline', 'json script', 'json-schema'],
  'packages/policies/src/engines/script': ['.', 'sandbox', 'isolated-vm quickjs'],
  'packages/policies/src/identity': ['. consumers issuer oauth session', 'token'],
  'packages/policies/src/shared': [
    'encoding options outcome time',
    'structured-field',
    'message',
    'call json',
    'field-location limits text',
    'transformation',
  ],
  'packages/policies/src/traffic': [
    'body-limit cache client-ban concurrency-limit cors fault geo-filter ip-filter maintenance mock quota rate-limit request-id response-cache security-headers size-limit time-window',
  ],
  'packages/policies/src/transform': ['api-call compress header script transform'],
  'packages/policies-xml/src': ['engines', 'content transform', 'auth', '.'],
  'packages/policies-xml/src/engines': ['xml', 'xslt'],
  'packages/policies-xml/src/engines/xml': ['.', 'language'],
  'packages/policies-xml/src/engines/xslt': ['.', 'libxslt saxon'],
  'packages/policies-xml/src/engines/xslt/saxon': ['sandbox', '.'],
  'packages/policies-xml/src/auth': ['saml', 'saml-login'],
  'packages/policies-xml/src/content': ['ws-security xsd'],
  'packages/policies-xml/src/transform': ['xml-json xslt'],
  'packages/logger/src': [
    'lib record redaction',
    'elasticsearch preparation queue',
    'outputs spool writer',
    'reader shipper',
    'replay sinks',
    '.',
  ],
  'packages/logger/src/outputs': ['.', 'http', 'custom elasticsearch kafka loki otlp stdout syslog webhook'],
  'packages/logger/src/reader': ['.', 'elasticsearch'],
  'packages/logger/src/redaction': ['formats', '.'],
  'packages/control-client/src': ['manifest', 'protocol', 'client', '.'],
  'packages/control/src': ['store', 'state', 'deploy validation', 'server', '.'],
  'packages/ui/src': ['app', '.'],
  'packages/ui/src/app': ['data', 'components', 'pages', '.'],
  'packages/gateway/src': [
    'lib telemetry tracing',
    'kubernetes protocol route plugins',
    'upstream',
    'listen state',
    'flow',
    'cache-server compile',
    'explain worker',
    'supervise trial',
    'admin',
    '.',
  ],
  'packages/gateway/src/lib': ['.', 'threads'],
  'packages/gateway/src/protocol': ['.', 'websocket', 'http1 http2'],
  'packages/gateway/src/upstream': ['transport state', 'http1 undici', 'http2', 'outbound .'],
  'packages/gateway/src/listen': ['.', 'uws', 'node'],
  'packages/gateway/src/listen/node': ['socket', 'http1 http2', '.'],
  'packages/gateway/src/state': ['valkey', '.'],
  'packages/gateway/src/cache-server': ['store', 'persist', '.'],
  'packages/gateway/src/supervise': [
    'process listeners vault',
    'documents parent',
    'rollout limits',
    'records services workers',
    'health status',
    'cache-server control',
    '.',
  ],
  'packages/cli/src': [
    'output service',
    'consumers input plugins',
    'admin',
    'cases control import kubernetes top',
    'completion dev',
    'init',
    'commands',
    'program',
    '.',
  ],
  'packages/cli/src/import': ['.', 'kong krakend nginx openapi'],
  'packages/cli/src/kubernetes': ['fleet objects', 'cluster', 'deploy'],
  'bench/src': [
    'lib model',
    'process suite',
    'engine servers',
    'measure',
    'agent report trial',
    'capacity compare run',
    'commands',
    '.',
  ],
  tools: ['lib lint', 'elasticsearch lint-tools', 'services', 'kubernetes', 'release', 'systemd', '.'],
}

/** Files of tests. They may import any folder, and no other file imports them. */
const TESTS = '[.]test[.]|/testing[/.]'

/** Source that plugins use to test themselves. */
const TEST_KIT = 'packages/policies/src/(contract-kit|example-uses)[.]'

function packageRules() {
  const forbid = (name, from, others) => ({
    name: `package ${name}`,
    severity: 'error',
    from,
    to: { path: `^@sluice/(?!(${others.join('|')})(/|$))` },
  })
  return Object.entries(PACKAGES).flatMap(([name, allowed]) => {
    const path = `^packages/${name}/`
    const rules = [forbid(name, { path, pathNot: COMPOSITION }, allowed)]
    if (name === 'gateway')
      rules.push(forbid('gateway', { path: COMPOSITION }, [...allowed, 'policies', 'policies-xml', 'logger']))
    return rules
  })
}

function dependencyRules() {
  return Object.entries(ONLY_IN).map(([name, place]) => ({
    name: `only one place uses ${name}`,
    severity: 'error',
    from: { pathNot: place },
    to: { path: `(^|node_modules/)${name}(/|$)` },
  }))
}

/** Returns the rules of one folder: entries import only entries of earlier groups, and every entry is listed. */
function folderRules([parent, groups]) {
  const layers = groups.map((group) => group.split(' '))
  const rules = layers.flatMap((group, i) =>
    group.flatMap((entry) => {
      const others = layers
        .slice(i)
        .flat()
        .filter((other) => other !== entry)
      const to = { path: others.map((other) => pathOf(parent, other)).join('|'), pathNot: TESTS }
      const from = { path: pathOf(parent, entry), pathNot: TESTS }
      return others.length === 0 ? [] : [{ name: `layer ${parent}`, severity: 'error', from, to }]
    }),
  )
  const unlisted = `^${parent}/(?!(${layers.flat().join('|')})/)[^/]+/`
  const to = { path: unlisted, pathNot: TESTS }
  return [
    ...rules,
    { name: `unlisted in ${parent}`, severity: 'error', from: { pathNot: TESTS }, to },
    { name: `unlisted in ${parent}`, severity: 'error', from: to, to: {} },
  ]
}

function pathOf(parent, entry) {
  return entry === '.' ? `^${parent}/[^/]+$` : `^${parent}/${entry}/`
}

// biome-ignore lint/style/noDefaultExport: dependency-cruiser reads its configuration so.
export default {
  forbidden: [
    { name: 'loop between files', severity: 'error', from: { pathNot: TESTS }, to: { circular: true } },
    {
      name: 'a test is imported',
      severity: 'error',
      from: { pathNot: `${TESTS}|${TEST_KIT}` },
      to: { path: `^(packages|bench)/[^/]+/(src/)?.*(${TESTS})` },
    },
    ...packageRules(),
    ...dependencyRules(),
    ...Object.entries(LAYERS).flatMap(folderRules),
  ],
  options: {
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules|/dist/' },
    exclude: { path: '/dist/|[.]d[.]ts$' },
  },
}
