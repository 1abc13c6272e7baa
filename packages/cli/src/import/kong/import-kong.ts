import { EXIT, Failure } from '../../output/failure.js'
import { DocumentDraft } from '../draft.js'
import type { SourceOptions } from '../import.js'
import { escapeRegex, patternOf, widenedPattern } from '../patterns.js'
import { SourceObject } from '../source-object.js'
import { SourceTree } from '../source-tree.js'
import { KongConsumers } from './consumers.js'
import { consumerPlugins, mapPlugins, type PluginResult } from './plugins.js'
import { type Selection, selectionOf, unmapped } from './selection.js'
import { upstreamOf } from './upstreams.js'

type Plugins = ReadonlyMap<string, SourceObject>

/** Address of the listener. Those of Kong are in kong.conf. */
const ADDRESS = '*:8000'
/** Protocols of routes that are not for HTTP. */
const NO_HTTP = /^(tcp|tls|udp|tls_passthrough)$/
const PLAIN_PATH = /^[A-Za-z0-9._~/%-]*$/
/** Keys of every entity that have no effect on requests. */
const META = 'id tags created_at updated_at name ws_id'

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
  const isRegexMarked = !/^[12]/.test(root.text('_format_version') ?? '3.0')
  root.ignore('_transform _info _comment _workspace _konnect _plugin_configs')
  const consumers = new KongConsumers()
  const upstreams = new Map(root.objects('upstreams').map((one) => [one.text('name') ?? '', one]))
  const shared = root.objects('plugins')
  const people = root.objects('consumers')
  const forConsumers = [
    ...shared.filter((one) => isOf(one, 'consumer', 'consumer_group')),
    ...[...people, ...root.objects('consumer_groups')].flatMap((one) => one.objects('plugins')),
  ]
  for (const consumer of people) await consumers.add(draft, consumer)
  const forAll = shared.filter((one) => !forConsumers.includes(one))
  const global = pluginsOf(forAll.filter((one) => !isOf(one, 'service', 'route')))
  const services = root.objects('services')
  const loose = root.objects('routes')
  const importer = new Importer(draft, { consumers, upstreams, isRegexMarked, forConsumers })
  for (const service of services) importer.addService(service, { global, forAll, loose })
  for (const one of loose.filter((route) => !isOf(route, 'service')))
    one.leaveOut('name', 'a route without a service has nothing to forward to')
  const remedy = 'write them to files and set tls of the listener'
  for (const key of ['certificates', 'ca_certificates', 'snis'])
    root.leaveOut(key, 'certificates belong to listeners', remedy)
  root.finish()
}

/** Returns the enabled plugins by name. */
function pluginsOf(plugins: readonly SourceObject[]): Plugins {
  const enabled = plugins.filter((one) => one.take('enabled') !== false)
  for (const one of plugins)
    one.ignore(`${META} protocols service route consumer consumer_group instance_name ordering`)
  return new Map(enabled.map((one) => [one.text('name') ?? '', one]))
}

/** True if a plugin or route belongs to one of these kinds of owners. */
function isOf(one: SourceObject, ...owners: readonly string[]): boolean {
  return owners.some((owner) => one.take(owner) !== undefined)
}

/** True if a plugin or route refers to an entity: by a text, or an object with `name` or `id`. */
function refersTo(one: SourceObject, owner: string, entity: SourceObject): boolean {
  const reference = one.take(owner)
  const isObject = typeof reference === 'object' && reference !== null
  const words = isObject ? [one.object(owner).text('name'), one.object(owner).text('id')] : [reference]
  return ['name', 'id'].some((key) => {
    const word = entity.text(key)
    return word !== undefined && words.includes(word)
  })
}

/** Plugins and routes outside of services. */
interface Shared {
  readonly global: Plugins
  /** Plugins that are not for single consumers. */
  readonly forAll: readonly SourceObject[]
  readonly loose: readonly SourceObject[]
}

interface Context {
  readonly consumers: KongConsumers
  readonly upstreams: ReadonlyMap<string, SourceObject>
  /** True if patterns start with `~`, as from Kong 3. */
  readonly isRegexMarked: boolean
  /** Plugins of single consumers and of their groups. */
  readonly forConsumers: readonly SourceObject[]
}

/** A route before its paths are added. */
interface PlannedRoute {
  readonly route: SourceObject
  readonly name: string
  readonly hasManyPaths: boolean
  readonly match: Selection
  readonly target: ReturnType<typeof upstreamOf>
  readonly plugins: PluginResult
  /** Protections and rules that are not mapped. */
  readonly missing: readonly string[]
  /** True if the route is for TLS only. */
  readonly isSecureOnly: boolean
}

class Importer {
  readonly #draft: DocumentDraft
  readonly #context: Context

  constructor(draft: DocumentDraft, context: Context) {
    this.#draft = draft
    this.#context = context
  }

  addService(service: SourceObject, { global, forAll, loose }: Shared): void {
    if (service.take('enabled') === false) {
      service.leaveOut('enabled', 'the service is disabled, so it has no routes')
      return
    }
    const ofService = forAll.filter((one) => refersTo(one, 'service', service) && !isOf(one, 'route'))
    const plugins = [...global, ...pluginsOf(service.objects('plugins')), ...pluginsOf(ofService)]
    const others = loose.filter((one) => refersTo(one, 'service', service))
    for (const route of [...service.objects('routes'), ...others]) {
      const ofRoute = pluginsOf(forAll.filter((one) => refersTo(one, 'route', route)))
      const all = [...plugins, ...pluginsOf(route.objects('plugins')), ...ofRoute]
      this.#addRoute(service, route, new Map(all))
    }
    service.ignore(`${META} tls_verify_depth client_certificate ca_certificates`)
    service.finish()
  }

  #addRoute(service: SourceObject, route: SourceObject, plugins: Plugins): void {
    const paths = route.texts('paths')
    const protocols = route.texts('protocols')
    if (protocols.length > 0 && protocols.every((one) => NO_HTTP.test(one))) {
      route.leaveOut('protocols', 'the gateway is for HTTP')
      return
    }
    const match = selectionOf(route)
    const planned: PlannedRoute = {
      route,
      name: route.text('name') ?? service.text('name') ?? 'route',
      hasManyPaths: paths.length > 1,
      match,
      target: upstreamOf(this.#draft, service, this.#context.upstreams),
      plugins: mapPlugins(plugins, this.#context.consumers),
      missing: [
        ...match.missing,
        ...consumerPlugins(this.#context.forConsumers, plugins, (one, owner) =>
          refersTo(one, owner, owner === 'route' ? route : service),
        ),
      ],
      isSecureOnly: protocols.length > 0 && protocols.every((one) => /^(https|grpcs|wss)$/.test(one)),
    }
    for (const path of paths.length === 0 ? ['/'] : paths) this.#addPath(planned, path)
    route.ignore(
      `${META} service regex_priority preserve_host strip_path path_handling request_buffering response_buffering https_redirect_status_code`,
    )
    route.finish()
  }

  #addPath(planned: PlannedRoute, path: string): void {
    const { route, name, match, plugins } = planned
    const { pattern, rank, missing } = this.#patternOf(route, path)
    // Without its rules, the route would take requests of others.
    if (match.missing.length + missing.length > 0 && this.#draft.allowsUnprotected) return
    const priority = match.rank + rank
    const matchOf = (scheme: string | null): object => {
      const conditions = [...match.conditions, ...(scheme === null ? [] : [`req.scheme == "${scheme}"`])]
      const pathKey = path === '/' ? undefined : `~${pattern}`
      return { ...match.keys, path: pathKey, when: conditions.join(' && ') || undefined }
    }
    this.#draft.addRoute({
      id: planned.hasManyPaths ? `${name}-${path}` : name,
      comment: `${route.place()} route ${name}`,
      match: matchOf(planned.isSecureOnly ? 'https' : null),
      priority,
      ...actionOf(planned, path, pattern),
      policies: plugins.policies,
      unprotected: [...plugins.unprotected, ...planned.missing, ...missing],
    })
    if (!planned.isSecureOnly) return
    // Kong redirects plain HTTP or answers it with 426. No other route takes these requests.
    const status = route.number('https_redirect_status_code') ?? 426
    const action = status === 426 ? { respond: { status } } : { redirect: { status, scheme: 'https' } }
    this.#draft.addRoute({ id: `${name}-http`, match: matchOf('http'), priority, ...action })
  }

  /** Returns the pattern for a path, its order, and the path if RE2 does not support it. The pattern is then wider. */
  #patternOf(
    route: SourceObject,
    path: string,
  ): { readonly pattern: string; readonly rank: number; readonly missing: readonly string[] } {
    const isRegex = this.#context.isRegexMarked ? path.startsWith('~') : !PLAIN_PATH.test(path)
    if (!isRegex) return { pattern: `^${escapeRegex(path)}`, rank: Math.min(4000, path.length), missing: [] }
    const source = `^(?:${path.replace(/^~/, '')})`
    const rank = 5000 + Math.min(4000, Math.max(0, route.number('regex_priority') ?? 0))
    const known = patternOf(source, false)
    if (known !== null) return { pattern: known, rank, missing: [] }
    const remedy = 'write a pattern without look-around and back references'
    const missing = [unmapped(route, `path ${path}`, remedy)]
    return { pattern: widenedPattern(source, false), rank, missing }
  }
}

/** Returns the keys of a route for its upstream, or for the answer of a plugin. */
function actionOf({ route, target, plugins }: PlannedRoute, path: string, pattern: string): object {
  const { respond } = plugins
  if (respond !== undefined || target === null) return { respond: respond ?? { status: 503 } }
  const prefix = route.take('strip_path') === false ? '^/' : `${pattern}/?`
  const isUnchanged = (prefix === '^/' || path === '/') && target.path === ''
  const regex = { pattern: prefix, replacement: `${target.path.replaceAll('$', '$$$$')}/` }
  const host = route.take('preserve_host') === true ? 'keep' : 'upstream'
  return {
    rewrite: { regex: isUnchanged ? undefined : regex, host },
    upstream: target.name,
    websocket: {},
  }
}
