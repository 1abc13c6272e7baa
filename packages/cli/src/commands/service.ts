import { lstatSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { EXIT, Failure, messageOf } from '../failure.js'
import { print, printText, say } from '../output/output.js'
import { isAsWritten, unitText } from '../service/unit.js'

/** The options that both commands have. */
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

/** Of users, units and folders: what all three may be called without quoting. */
const NAME = /^[a-z_][a-z0-9_-]{0,30}$/
/** What a unit takes as it is, systemd.syntax(7); others would need to be quoted or mean something. */
const PLAIN_PATH = /^\/[\w./@:+,=-]*$/
/** Where systemd looks for programs, systemd.exec(5). */
const PROGRAM_FOLDERS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']
/** ProtectHome and PrivateTmp of the unit hide them from the service. */
const HIDDEN = /^\/(home|root|run\/user|tmp|var\/tmp)(\/|$)/

/** Writes the unit of a gateway, and says what is to be done next. It starts nothing. */
export function install(options: InstallOptions, given?: string): number {
  const name = checkedName('--name', options.name)
  const user = checkedName('--user', options.user ?? name)
  const document = visiblePath('the document', given ?? `/etc/${name}/gateway.yaml`, options)
  const text = unitText({ name, user, document, command: commandOf(options) })
  const { path, inside } = placeOf(options)
  const before = textOf(path)
  if (options.dryRun === true) {
    printText(text)
    say(before === text ? `${path} is so already` : `would write ${path}`)
    return EXIT.ok
  }
  if (before === text) print(`${path} is so already`)
  else {
    refuseChanged(path, before, options)
    write(path, text)
    print(`wrote ${path}`)
  }
  print(
    'next:',
    ...nextSteps({ name, user, document, isNew: before === null, inside }).map((step) => `  ${step}`),
  )
  return EXIT.ok
}

/** Removes the unit of a gateway. It stops nothing, and leaves documents, data and the user. */
export function uninstall(options: ServiceOptions): number {
  const name = checkedName('--name', options.name)
  const { path, inside } = placeOf(options)
  const before = textOf(path)
  if (before === null) {
    print(`there is no ${path}`)
    return EXIT.ok
  }
  refuseChanged(path, before, options)
  const isEnabled = isThere(inside(`etc/systemd/system/multi-user.target.wants/${name}.service`))
  if (isEnabled && options.force !== true)
    throw new Failure(
      EXIT.failed,
      `${name} is enabled; first run systemctl disable --now ${name}, or add --force`,
    )
  if (options.dryRun === true) {
    say(`would remove ${path}`)
    return EXIT.ok
  }
  attempt(() => rmSync(path), `cannot remove ${path}`)
  print(
    `removed ${path}`,
    'next:',
    '  systemctl daemon-reload',
    `kept: /etc/${name}, /var/lib/${name}, its user`,
  )
  return EXIT.ok
}

function checkedName(option: string, name: string): string {
  if (NAME.test(name)) return name
  throw usage(`${option}: '${name}' is no name; write up to 31 of a-z, 0-9, - and _, a letter first`)
}

function visiblePath(what: string, given: string, { root }: ServiceOptions): string {
  const path = resolve(given)
  if (!PLAIN_PATH.test(path))
    throw usage(`${what} '${path}' has characters that mean something to systemd; choose another path`)
  const places = resolve(root) === '/' ? [path, targetOf(path)] : [path]
  const hidden = places.find((place) => HIDDEN.test(place))
  if (hidden !== undefined)
    throw usage(
      `the service cannot see ${what} ${path}${hidden === path ? '' : `, a link to ${hidden}`}, because its unit hides homes and folders for temporary files; put it elsewhere, such as /etc or /opt`,
    )
  return path
}

/** Where links lead, such as that of `npm install --global FOLDER`. */
function targetOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    // It is to be put there.
    return path
  }
}

/** `gw` finds Node.js by the search path, which for systemd is a short one. */
function commandOf(options: InstallOptions): string {
  const gw = visiblePath('gw, as', options.gw ?? process.argv[1]!, options)
  if (PROGRAM_FOLDERS.includes(dirname(process.execPath))) return gw
  return `${visiblePath('Node.js, as', process.execPath, options)} ${gw}`
}

function placeOf({ name, root }: ServiceOptions) {
  const inside = (path: string): string => join(resolve(root), path)
  return { path: inside(`etc/systemd/system/${name}.service`), inside }
}

/** Null: there is no such file. A link, as `systemctl mask` makes one, has no text of its own. */
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
    'see what it has with gw service install --dry-run; keep changes in systemctl edit, then add --force'
  throw new Failure(EXIT.failed, `${path} was changed since gw wrote it, or is not of gw; ${remedy}`)
}

/** Whoever reads it meanwhile finds the old one or the new one. */
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
    throw new Failure(EXIT.failed, `${failure}: ${messageOf(error)}${hint}`)
  }
}

interface Installed {
  readonly name: string
  readonly user: string
  readonly document: string
  readonly isNew: boolean
  readonly inside: (path: string) => string
}

/** The commands that are still missing until it runs. */
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

function usage(message: string): Failure {
  return new Failure(EXIT.usage, message)
}
