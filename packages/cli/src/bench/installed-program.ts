import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Where Debian installs servers; the PATH of who is not root lacks it. */
const SERVER_DIRS = ['/usr/local/sbin', '/usr/sbin']

const PACKAGES: Readonly<Record<string, string>> = {
  nginx: 'on Debian: apt-get install nginx-light',
  haproxy: 'on Debian: apt-get install haproxy',
  envoy: 'see the documentation of Envoy',
}

/** Why a peer cannot be measured here, and what to do; null: its program is there. */
export function peerProblem(name: string): string | null {
  if (isInstalled(name)) return null
  return `${name} is not on the PATH; install it (${PACKAGES[name] ?? 'see its documentation'}), or leave it out of --with`
}

function isInstalled(program: string): boolean {
  const dirs = [...(process.env['PATH'] ?? '').split(delimiter), ...SERVER_DIRS]
  return dirs.filter((dir) => dir !== '').some((dir) => isExecutable(join(dir, program)))
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
