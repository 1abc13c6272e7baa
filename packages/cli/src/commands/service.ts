import { lstatSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { Failure, reasonOf, usageError } from '../output/failure.js'
import { print, printText, say } from '../output/output.js'
import { isAsWritten, unitText } from '../service/unit.js'

interface ServiceOptions {
  readonly name: string
  readonly root: string
  readonly force?: boolean
  readonly dryRun?: boolean
}

interface InstallOptions extends ServiceOptions {
  readonly user?: string
  readonly gw?: string
}

/** Matches names that are valid for users, units and folders without quoting. */
const NAME = /^[a-z_][a-z0-9_-]{0,30}$/
/** Matches paths that need no quoting in a unit, systemd.syntax(7). */
const PLAIN_PATH = /^\/[\w./@:+,=-]*$/
/** Folders in which systemd looks for programs, systemd.exec(5). */
const PROGRAM_FOLDERS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']
/** Matches folders that ProtectHome and PrivateTmp hide from the service. */
const HIDDEN = /^\/(home|root|run\/user|tmp|var\/tmp)(\/|$)/

/** Writes the systemd unit of a gateway and prints the next steps. It starts nothing. */
export function install(options: InstallOptions, given?: string): void {
  const name = checkedName('--name', options.name)
  const user = checkedName('--user', options.user ?? name)
  const document = visiblePath('the document', given ?? `/etc/${name}/gateway.yaml`, options)
  const text = unitText({ name, user, document, command: commandOf(options) })
  const { path, inside } = placeOf(options)
  const before = textOf(path)
  if (options.dryRun === true) {
    printText(text)
    say(before === text ? `${path} is up to date` : `would write ${path}`)
    return
  }
  if (before === text) print(`${path} is up to date`)
  else {
    refuseChanged(path, before, options)
    write(path, text)
    print(`wrote ${path}`)
  }
  print(
    'next:',
    ...nextSteps({ name, user, document, isNew: before === null, inside }).map((step) => `  ${step}`),
  )
}

/** Removes the systemd unit of a gateway. It stops nothing, and keeps documents, data and the user. */
export function uninstall(options: ServiceOptions): void {
  const name = checkedName('--name', options.name)
  const { path, inside } = placeOf(options)
  const before = textOf(path)
  if (before === null) {
    print(`${path} does not exist`)
    return
  }
  refuseChanged(path, before, options)
  const isEnabled = isThere(inside(`etc/systemd/system/multi-user.target.wants/${name}.service`))
  if (isEnabled && options.force !== true)
    throw new Failure(`${name} is enabled; run systemctl disable --now ${name} first, or add --force`)
  if (options.dryRun === true) {
    say(`would remove ${path}`)
    return
  }
  attempt(() => rmSync(path), `cannot remove ${path}`)
  print(
    `removed ${path}`,
    'next:',
    '  systemctl daemon-reload',
    `kept: /etc/${name}, /var/lib/${name}, its user`,
  )
}

function checkedName(option: string, name: string): string {
  if (NAME.test(name)) return name
  throw usageError(
    `${option}: '${name}' is not a valid name; use up to 31 of a-z, 0-9, - and _, starting with a letter`,
  )
}

function visiblePath(what: string, given: string, { root }: ServiceOptions): string {
  const path = resolve(given)
  if (!PLAIN_PATH.test(path))
    throw usageError(`${what} '${path}' contains characters that systemd interprets; choose another path`)
  const places = resolve(root) === '/' ? [path, targetOf(path)] : [path]
  const hidden = places.find((place) => HIDDEN.test(place))
  if (hidden !== undefined)
    throw usageError(
      `the service cannot access ${what} ${path}${hidden === path ? '' : `, a link to ${hidden}`}, because its unit hides home and temporary folders; move it, for example to /etc or /opt`,
    )
  return path
}

/** Resolves links, such as that of `npm install --global FOLDER`. */
function targetOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    // It does not exist yet.
    return path
  }
}

/**
 * Returns the command that starts gw. It names Node.js if systemd's short search path does not contain it.
 */
function commandOf(options: InstallOptions): string {
  const gw = visiblePath('gw, as', options.gw ?? process.argv[1]!, options)
  if (PROGRAM_FOLDERS.includes(dirname(process.execPath))) return gw
  return `${visiblePath('Node.js, as', process.execPath, options)} ${gw}`
}

function placeOf({ name, root }: ServiceOptions) {
  const inside = (path: string): string => join(resolve(root), path)
  return { path: inside(`etc/systemd/system/${name}.service`), inside }
}

/**
 * Returns the text of a file, or null if it does not exist. A link, such as one by `systemctl mask`, counts
 * as empty.
 */
function textOf(path: string): string | null {
  return attempt(() => {
    if (!isThere(path)) return null
    return lstatSync(path).isFile() ? readFileSync(path, 'utf8') : ''
  }, `cannot read ${path}`)
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

function refuseChanged(path: string, before: string | null, { force = false }: ServiceOptions): void {
  if (before === null || force || isAsWritten(before)) return
  const remedy =
    'compare it with gw service install --dry-run; move changes to systemctl edit, then add --force'
  throw new Failure(`${path} was changed after gw wrote it, or was not written by gw; ${remedy}`)
}

/** Writes a file atomically. */
function write(path: string, text: string): void {
  const staging = `${path}.${process.pid}`
  attempt(() => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(staging, text, { mode: 0o644, flag: 'wx' })
    renameSync(staging, path)
  }, `cannot write ${path}`)
}

function attempt<T>(act: () => T, failure: string): T {
  try {
    return act()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const hint = code === 'EACCES' || code === 'EPERM' ? '; run it as root' : ''
    throw new Failure(`${failure}: ${reasonOf(error)}${hint}`)
  }
}

interface Installed {
  readonly name: string
  readonly user: string
  readonly document: string
  readonly isNew: boolean
  readonly inside: (path: string) => string
}

/** Returns the commands that are left until the service runs. */
function nextSteps({ name, user, document, isNew, inside }: Installed): string[] {
  const folder = dirname(document)
  return [
    ...(hasUser(inside('etc/passwd'), user)
      ? []
      : [`useradd --system --home-dir /var/lib/${name} --shell /usr/sbin/nologin ${user}`]),
    ...(isThere(inside(folder)) ? [] : [`install -d -m 750 -o root -g ${user} ${folder}`]),
    ...(isThere(inside(document)) ? [] : [`install -m 640 -o root -g ${user} gateway.yaml ${document}`]),
    'systemctl daemon-reload',
    isNew ? `systemctl enable --now ${name}` : `systemctl restart ${name}`,
  ]
}

function hasUser(passwd: string, user: string): boolean {
  const users = attempt(() => (isThere(passwd) ? readFileSync(passwd, 'utf8') : ''), `cannot read ${passwd}`)
  return users.split('\n').some((line) => line.startsWith(`${user}:`))
}
