import { EXIT, Failure } from '../../output/failure.js'
import { DocumentDraft } from '../draft.js'
import type { SourceOptions } from '../import.js'
import { escapeRegex, patternOf } from '../patterns.js'
import { SourceObject } from '../source-object.js'
import { SourceTree } from '../source-tree.js'
import { KongConsumers } from './consumers.js'
import { mapPlugins } from './plugins.js'
import { upstreamOf } from './upstreams.js'

type Plugins = ReadonlyMap<string, SourceObject>

/** Address of the listener. Those of Kong are in kong.conf. */
const ADDRESS = '*:8000'
const PLAIN_PATH = /^[A-Za-z0-9._~/%-]*$/
const META = ['id', 'tags', 'created_at', 'updated_at', 'name', 'ws_id']

/** Returns a document for declarative configurations of Kong 2 and 3. */
export async function importKong(files: readonly string[], options: SourceOptions): Promise<DocumentDraft> {
  const draft = new DocumentDraft(`Imported from ${files.join(', ')} (Kong).`, options.allowUnprotected)
  draft.listeners.push({ address: ADDRESS, engine: 'node' })
  for (const file of files) {
    const tree = new SourceTree(file)
    await addConfiguration(draft, new SourceObject(draft, tree, [], tree.value))
  }
  if (draft.routes.length === 0)
    throw new Failure(`${files.join(', ')}: no route that can be imported`, EXIT.invalid)
  return draft
}

async function addConfiguration(draft: DocumentDraft, root: SourceObject): Promise<void> {
  const isRegexMarked =
    !(root.text('_format_version') ?? '3.0').startsWith('2') &&
    !(root.text('_format_version') ?? '').startsWith('1')
  root.ignore('_transform', '_info', '_comment', '_workspace', '_konnect', '_plugin_configs')
  const consumers = new KongConsumers()
  for (const consumer of root.objects('consumers')) await consumers.add(draft, consumer)
  const upstreams = new Map(root.objects('upstreams').map((one) => [one.text('name') ?? '', one]))
  const shared = root.objects('plugins')
  const global = pluginsOf(
    shared.filter((one) => ['service', 'route', 'consumer'].every((key) => nameOf(one.take(key)) === null)),
  )
  const services = root.objects('services')
  const loose = root.objects('routes')
  const importer = new Importer(draft, { consumers, upstreams, isRegexMarked })
  for (const service of services) {
    const key = service.text('name') ?? service.text('id')
    const referring = (owner: 'service' | 'route', name: string | undefined) =>
      pluginsOf(shared.filter((one) => name !== undefined && nameOf(one.take(owner)) === name))
    const plugins = new Map([
      ...global,
      ...pluginsOf(service.objects('plugins')),
      ...referring('service', key),
    ])
    const routes = [
      ...service.objects('routes'),
      ...loose.filter((one) => nameOf(one.take('service')) === key),
    ]
    for (const route of routes)
      importer.addRoute(
        service,
        route,
        new Map([
          ...plugins,
          ...pluginsOf(route.objects('plugins')),
          ...referring('route', route.text('name')),
        ]),
      )
    finishService(service)
  }
  for (const one of shared.filter((plugin) => nameOf(plugin.take('consumer')) !== null))
    one.unprotected(
      `plugin ${one.text('name')} of a consumer`,
      'plugins of consumers are not mapped',
      'use when: consumer.id == … on a policy',
    )
  for (const one of loose.filter((route) => nameOf(route.take('service')) === null))
    one.leaveOut('name', 'a route without a service has nothing to forward to')
  for (const key of ['certificates', 'ca_certificates', 'snis'])
    root.leaveOut(key, 'certificates belong to listeners', 'write them to files and set tls of the listener')
  root.finish()
}

/** Returns the enabled plugins by name. */
function pluginsOf(plugins: readonly SourceObject[]): Plugins {
  const enabled = plugins.filter((one) => one.take('enabled') !== false)
  for (const one of plugins)
    one.ignore(...META, 'protocols', 'service', 'route', 'consumer', 'instance_name', 'ordering')
  return new Map(enabled.map((one) => [one.text('name') ?? '', one]))
}

/** Returns the name in a reference: a text, or an object with `name` or `id`. */
function nameOf(reference: unknown): string | null {
  if (typeof reference === 'string') return reference
  if (typeof reference !== 'object' || reference === null) return null
  const { name, id } = reference as Readonly<Record<string, unknown>>
  return String(name ?? id)
}

function finishService(service: SourceObject): void {
  service.ignore(...META, 'enabled', 'tls_verify_depth', 'client_certificate', 'ca_certificates')
  service.finish()
}

interface Context {
  readonly consumers: KongConsumers
  readonly upstreams: ReadonlyMap<string, SourceObject>
  /** True if patterns start with `~`, as from Kong 3. */
  readonly isRegexMarked: boolean
}

class Importer {
  readonly #draft: DocumentDraft
  readonly #context: Context

  constructor(draft: DocumentDraft, context: Context) {
    this.#draft = draft
    this.#context = context
  }

  addRoute(service: SourceObject, route: SourceObject, plugins: Plugins): void {
    const name = route.text('name') ?? service.text('name') ?? 'route'
    const target = upstreamOf(this.#draft, service, this.#context.upstreams)
    const { policies, unprotected, respond } = mapPlugins(plugins, this.#context.consumers)
    const match = this.#matchOf(route)
    const paths = route.texts('paths')
    for (const path of paths.length === 0 ? ['/'] : paths) {
      const isRegex = this.#context.isRegexMarked ? path.startsWith('~') : !PLAIN_PATH.test(path)
      const pattern = isRegex ? patternOf(`^(?:${path.replace(/^~/, '')})`, false) : `^${escapeRegex(path)}`
      if (pattern === null) {
        route.leaveOut('paths', 'RE2 does not support a pattern')
        continue
      }
      const prefix = route.take('strip_path') === false ? '^/' : `${pattern}/?`
      const isUnchanged = (prefix === '^/' || path === '/') && target?.path === ''
      this.#draft.addRoute({
        id: paths.length > 1 ? `${name}-${path}` : name,
        comment: `${route.place()} route ${name}`,
        match: {
          ...match.keys,
          ...(path !== '/' && { path: `~${pattern}` }),
          ...(match.when !== null && { when: match.when }),
        },
        priority:
          match.rank +
          (isRegex
            ? 5000 + Math.min(4000, Math.max(0, route.number('regex_priority') ?? 0))
            : Math.min(4000, path.length)),
        ...(respond !== undefined || target === null
          ? { respond: respond ?? { status: 503 } }
          : {
              rewrite: {
                ...(!isUnchanged && {
                  regex: { pattern: prefix, replacement: `${target.path.replaceAll('$', '$$$$')}/` },
                }),
                host: route.take('preserve_host') === true ? 'keep' : 'upstream',
              },
              upstream: target.name,
              websocket: {},
            }),
        policies,
        unprotected,
      })
    }
    route.ignore(
      ...META,
      'service',
      'regex_priority',
      'preserve_host',
      'strip_path',
      'path_handling',
      'request_buffering',
      'response_buffering',
      'https_redirect_status_code',
    )
    for (const key of ['expression', 'snis', 'sources', 'destinations'])
      if (route.keys().includes(key)) route.leaveOut(key, 'it is not mapped', 'use match.when')
    route.finish()
  }

  /** Returns what a route matches besides the path, and its rank: Kong prefers routes with more kinds of rules. */
  #matchOf(route: SourceObject): {
    readonly keys: object
    readonly when: string | null
    readonly rank: number
  } {
    const hosts = route.texts('hosts').map((one) => one.toLowerCase().replace(/:\d+$/, ''))
    const usable = hosts.filter((one) => /^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(one))
    const trailing = hosts
      .filter((one) => one.endsWith('.*'))
      .map((one) => `req.host.startsWith(${JSON.stringify(one.slice(0, -1))})`)
    const methods = route.texts('methods')
    const fields = route.object('headers')
    const headers = fields.keys().map((key) => [key.toLowerCase(), fields.texts(key)] as const)
    const protocols = route.texts('protocols')
    const isSecure = protocols.length > 0 && protocols.every((one) => one === 'https' || one === 'grpcs')
    const conditions = [
      ...(usable.length === 0 && trailing.length > 0
        ? [trailing.length > 1 ? `(${trailing.join(' || ')})` : trailing[0]!]
        : []),
      ...headers.map(([key, values]) => `req.header[${JSON.stringify(key)}] in ${JSON.stringify(values)}`),
      ...(isSecure ? ['req.scheme == "https"'] : []),
    ]
    const kinds = [hosts, methods, headers, route.texts('paths')].filter((list) => list.length > 0).length
    return {
      keys: { ...(usable.length > 0 && { hosts: usable }), ...(methods.length > 0 && { methods }) },
      when: conditions.length === 0 ? null : conditions.join(' && '),
      rank:
        kinds * 200_000 +
        Math.min(9, headers.length) * 20_000 +
        (usable.some((one) => !one.startsWith('*')) ? 10_000 : 0),
    }
  }
}
