import { dirname, resolve } from 'node:path'
import { readTextFile } from '@sluice/config'
import { parse } from 'yaml'
import { AccessError, type ClusterAccess, type Credentials } from './cluster-access.js'

/** A program that provides credentials, configured in a kubeconfig user (client.authentication.k8s.io/v1). */
export interface ExecConfig {
  readonly apiVersion: string
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

interface KubeconfigOptions {
  /** Context name, or null for the current context. */
  readonly context: string | null
  /** Runs a credential program. If absent, users that need one are refused. */
  readonly runExec?: (config: ExecConfig) => Promise<Credentials>
}

type Part = Readonly<Record<string, unknown>>

const MAX_BYTES = 1024 * 1024

/** Reads cluster access from a kubeconfig. @throws AccessError if it is incomplete. */
export async function kubeconfigAccess(path: string, options: KubeconfigOptions): Promise<ClusterAccess> {
  const root = readRoot(path)
  const folder = dirname(resolve(path))
  const contextName = options.context ?? textAt(root, 'current-context')
  if (contextName === undefined)
    throw new AccessError(`${path} has no current-context; set the context explicitly`)
  const context = entryOf(root, 'contexts', contextName, path)
  const cluster = entryOf(root, 'clusters', textAt(context, 'cluster') ?? '', path)
  const user = entryOf(root, 'users', textAt(context, 'user') ?? '', path)
  refuseUnread(cluster, ['proxy-url'], `the cluster of ${path}`)
  refuseUnread(user, ['as', 'as-uid', 'as-groups', 'as-user-extra'], `the user of ${path}`)
  const ca = textOrFile(cluster, 'certificate-authority', folder)
  const servername = textAt(cluster, 'tls-server-name')
  return {
    server: serverOf(cluster, path),
    ca,
    ...(servername === undefined ? {} : { servername }),
    isInsecure: cluster['insecure-skip-tls-verify'] === true,
    namespace: textAt(context, 'namespace') ?? 'default',
    credentials: credentialsOf(user, folder, options),
  }
}

function readRoot(path: string): Part {
  let text: string
  try {
    text = readTextFile(path, MAX_BYTES)
  } catch (error) {
    throw new AccessError(`cannot read the kubeconfig ${path}: ${(error as Error).message}`)
  }
  try {
    // The parser's message quotes the text around the error, which may contain a token. Leave it out.
    return partOf(parse(text, { maxAliasCount: 100 }))
  } catch {
    throw new AccessError(`the kubeconfig ${path} is not valid YAML`)
  }
}

/**
 * Refuses settings that are not supported. Ignoring them would connect to another server or as another user.
 */
function refuseUnread(part: Part, keys: readonly string[], whose: string): void {
  const found = keys.find((key) => part[key] !== undefined)
  if (found !== undefined) throw new AccessError(`${whose} has ${found}, which is not supported; remove it`)
}

function serverOf(cluster: Part, path: string): URL {
  const text = textAt(cluster, 'server') ?? ''
  const url = URL.canParse(text) ? new URL(text) : null
  if (url !== null && url.protocol === 'https:' && url.username === '') return url
  throw new AccessError(`the cluster of ${path} has no https:// server URL`)
}

function credentialsOf(
  user: Part,
  folder: string,
  { runExec }: KubeconfigOptions,
): ClusterAccess['credentials'] {
  const exec = user['exec']
  if (exec !== undefined && runExec === undefined)
    throw new AccessError(
      'the kubeconfig user gets its credentials from a program (exec), which is not supported here; use a token',
    )
  if (user['auth-provider'] !== undefined)
    throw new AccessError('the kubeconfig user has an auth-provider, which Kubernetes has removed; use exec')
  if (user['username'] !== undefined)
    throw new AccessError(
      'the kubeconfig user has a password, which API servers no longer accept; use a token',
    )
  return async () => {
    if (exec !== undefined) return await runExec!(execOf(partOf(exec), folder))
    const tokenFile = textAt(user, 'tokenFile')
    const token = tokenFile === undefined ? textAt(user, 'token') : readBeside(folder, tokenFile)
    const cert = textOrFile(user, 'client-certificate', folder)
    const key = textOrFile(user, 'client-key', folder)
    return {
      ...(token === undefined ? {} : { token: token.trim() }),
      ...(cert === undefined || key === undefined ? {} : { cert, key }),
    }
  }
}

function execOf(exec: Part, folder: string): ExecConfig {
  const { args, env } = exec
  const command = textAt(exec, 'command') ?? ''
  return {
    apiVersion: textAt(exec, 'apiVersion') ?? '',
    // A command with a slash is relative to the kubeconfig; a plain name is looked up in PATH.
    command: command.includes('/') ? resolve(folder, command) : command,
    args: Array.isArray(args) ? args.map(String) : [],
    env: Object.fromEntries(
      (Array.isArray(env) ? env : []).map(partOf).map((one) => [String(one['name']), String(one['value'])]),
    ),
  }
}

/**
 * Returns a value such as `certificate-authority-data` (base64), or the content of the file in
 * `certificate-authority`.
 */
function textOrFile(part: Part, key: string, folder: string): string | undefined {
  const data = textAt(part, `${key}-data`)
  if (data !== undefined) return Buffer.from(data, 'base64').toString()
  const file = textAt(part, key)
  return file === undefined ? undefined : readBeside(folder, file)
}

/** Reads a file relative to the kubeconfig. It must be a regular file: reading a device could never end. */
function readBeside(folder: string, file: string): string {
  const path = resolve(folder, file)
  try {
    return readTextFile(path, MAX_BYTES)
  } catch {
    throw new AccessError(`cannot read ${path}, which the kubeconfig refers to`)
  }
}

/** Finds an entry by name: `contexts: [ { name: NAME, context: { … } } ]` */
function entryOf(root: Part, list: 'contexts' | 'clusters' | 'users', name: string, path: string): Part {
  const entries = root[list]
  const known = (Array.isArray(entries) ? entries : []).map(partOf)
  const found = known.find((entry) => entry['name'] === name)
  if (found === undefined) {
    const names = known.map((entry) => String(entry['name'])).join(', ')
    throw new AccessError(`${path} has no '${name}' among its ${list}${names === '' ? '' : `: ${names}`}`)
  }
  return partOf(found[list.slice(0, -1)])
}

function partOf(value: unknown): Part {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Part) : {}
}

function textAt(part: Part, key: string): string | undefined {
  const value = part[key]
  return typeof value === 'string' && value !== '' ? value : undefined
}
