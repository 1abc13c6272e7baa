import { spawnSync } from 'node:child_process'

/**
 * The real programs that tests and benchmarks run against, and how each is had. A row needs no more than Debian's
 * package; what a later capability needs is one more row.
 */
export const services = [
  { name: 'nginx', command: 'nginx', debianPackage: 'nginx-light', usedFor: 'the benchmark beside a peer' },
]

/** Gets what is missing. Answers with the services that could not be had. */
export function provideServices() {
  const missing = services.filter((service) => !isThere(service.command))
  if (missing.length === 0) return []
  if (canInstall()) installPackages(missing.map((service) => service.debianPackage))
  return missing.filter((service) => !isThere(service.command))
}

/** What a person can do about a service that is not there. */
export function remedyFor({ debianPackage }) {
  return `install it, on Debian with: apt-get install ${debianPackage}`
}

function isThere(command) {
  return spawnSync('sh', ['-c', `command -v ${command}`]).status === 0
}

function canInstall() {
  return process.getuid?.() === 0 && isThere('apt-get')
}

/** The package lists of a fresh machine may be empty, so a failure is tried once more behind an update. */
function installPackages(packages) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const install = () =>
    spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], { env })
  if (install().status === 0) return
  spawnSync('apt-get', ['update', '-qq'], { env })
  install()
}
