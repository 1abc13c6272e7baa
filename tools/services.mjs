import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { installElasticsearch } from './elasticsearch/install.mjs'
import { elasticsearchHome } from './elasticsearch/place.mjs'
import { h2spec } from './h2spec/folder.mjs'
import { helm } from './helm/folder.mjs'
import { containerObstacle, imageBase, installImageBase } from './image/base-folder.mjs'
import { isolatedVm } from './isolated-vm/folder.mjs'
import { kubernetes } from './kubernetes/cluster/folder.mjs'
import { wss4j } from './wss4j/folder.mjs'

/**
 * The real programs that tests and benchmarks run against, and how each is had. Most rows need no more than Debian's
 * packages and the commands in them; a program that is no package is installed by its row, which answers with what
 * went wrong or null, and is found by the tests through the variables in `environment`. A row with `isInstalled` takes
 * too long for every machine: it is installed when it is asked for by name. A row with an `obstacle` is for some machines
 * only: on others nothing is missing, and its tests say why they skip.
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
    name: 'isolated-vm',
    usedFor: 'the tests of scripts in isolated-vm, on Node.js 22',
    commands: ['npm'],
    debianPackages: ['npm'],
    install: () => isolatedVm.install(),
    environment: () => ({ SLUICE_ISOLATED_VM_HOME: isolatedVm.path }),
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

/** A package that is named and there already stays as it is. */
const INSTALL = ['install', '-y', '-qq', '--no-install-recommends', '--no-upgrade', '--no-remove']

/**
 * Gets what is missing and sets where things are, for this process and the tests it starts. Answers with a
 * sentence for each service that could not be had.
 * @param named services that are not for every machine, and are asked for
 */
export function provideServices(named = []) {
  return provideAll(
    services.filter(({ name, isInstalled }) => isInstalled?.() !== false || named.includes(name)),
  )
}

/** The same for these services alone. */
export function provideNamed(names) {
  return provideAll(services.filter(({ name }) => names.includes(name)))
}

function provideAll(wanted) {
  const incomplete = wanted.filter((service) => obstacleTo(service) === null && lacksCommands(service))
  if (canInstall()) installPackages(new Set(incomplete.flatMap(({ debianPackages }) => debianPackages)))
  return wanted.map(provide).filter((problem) => problem !== null)
}

/** Asked once, and kept for the tests. */
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

/** What a person can do about a service that is not there. */
function remedyFor({ debianPackages }) {
  return `install it, on Debian with: apt-get install ${debianPackages.join(' ')}`
}

function lacksCommands({ commands }) {
  return !commands.every(isThere)
}

function isThere(command) {
  return spawnSync('sh', ['-c', `command -v ${command}`]).status === 0
}

function canInstall() {
  return process.getuid?.() === 0 && isThere('apt-get')
}

/**
 * One by one: a package that conflicts with what is there, such as kubernetes-client where kubectl is from elsewhere,
 * must not keep away the others. Nothing that is there is removed for it. The package lists of a fresh machine may be
 * empty, so a failure is tried once more after an update.
 */
function installPackages(names) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const fails = (name) => spawnSync('apt-get', [...INSTALL, name], { env }).status !== 0
  const failed = [...names].filter(fails)
  if (failed.length === 0) return
  spawnSync('apt-get', ['update', '-qq'], { env })
  failed.forEach(fails)
}
