import { isIP } from 'node:net'
import { relative } from 'node:path'
import { type ApiOutline, readApiOutline } from '@sluice/policies'
import { EXIT, Failure, messageOf, usageError } from '../../output/failure.js'
import { DocumentDraft } from '../draft.js'
import { problemsOf, type SourceOptions } from '../import.js'
import { cleanName, type TakenNames, uniqueName } from '../names.js'
import { SourceTree } from '../source-tree.js'
import { type OperationRoute, routesOf } from './operation-routes.js'
import { SecurityMapping } from './security.js'

/** Options of an import from OpenAPI descriptions. */
export interface OpenapiOptions extends SourceOptions {
  /** URL of the API, instead of the servers in the description. */
  readonly upstream?: string | undefined
  /** False for a document without the policy `openapi`. */
  readonly validate?: boolean | undefined
  /** Issuer of the bearer tokens, for descriptions that do not name it. */
  readonly issuer?: string | undefined
}

/** Location of an API. */
interface Server {
  /** Scheme, host and port of the server. */
  readonly origin: string
  /** Prefix of the described paths; may be empty. */
  readonly basePath: string
}

/** An API description and its place in the document. */
interface Description {
  readonly file: string
  readonly tree: SourceTree
  readonly api: ApiOutline
  readonly server: Server
  /** Name of the API in ids; null if the document has only one. */
  readonly name: string | null
}

const ADDRESS = '127.0.0.1:8080'

/** Parts of a route whose operation has `security: []`. */
const PUBLIC = {
  comment: 'Public: the description has security: [].',
  'x-lint': { disable: ['unprotected-route'] },
}

/**
 * Returns a document that routes APIs according to their OpenAPI descriptions, with one route per operation. It
 * validates every request unless `validate` is false.
 * @throws Failure if a file is missing or is not an OpenAPI description
 */
export async function importOpenapi(
  files: readonly string[],
  options: OpenapiOptions,
): Promise<DocumentDraft> {
  const draft = await draftOf(files, options, 'refuse')
  if (options.validate === false || (await problemsOf(draft, options.folder)).length === 0) return draft
  // Patterns that cannot be matched in linear time make the description unusable for the policy.
  const lenient = await draftOf(files, options, 'skip')
  if ((await problemsOf(lenient, options.folder)).length > 0) return draft
  lenient.report.leaveOut({
    place: files.join(', '),
    what: 'pattern',
    reason: 'some patterns cannot be matched in linear time, so they are not checked (onUnsupported: skip)',
    remedy: 'gw validate lists them; rewrite them without look-around and back references',
  })
  return lenient
}

async function draftOf(
  files: readonly string[],
  options: OpenapiOptions,
  onUnsupported: 'refuse' | 'skip',
): Promise<DocumentDraft> {
  const descriptions = await readAll(files, options)
  const titles = descriptions.map(({ api }) => `${api.title} ${api.version}`)
  const draft = new DocumentDraft(`${titles.join(', ')}, imported from OpenAPI.`, options.allowUnprotected)
  draft.listeners.push({ address: ADDRESS, engine: 'node' })
  for (const description of descriptions) addApi(draft, description, { ...options, onUnsupported })
  if (draft.routes.length === 0) throw new Failure(`${files.join(', ')} describes no paths`, EXIT.invalid)
  return draft
}

async function readAll(files: readonly string[], { upstream }: OpenapiOptions): Promise<Description[]> {
  const names: TakenNames = new Map()
  const descriptions: Description[] = []
  for (const file of files) {
    const tree = new SourceTree(file)
    const api = await readApiOutline(file).catch((error: unknown) => {
      throw new Failure(messageOf(error), EXIT.invalid)
    })
    const name = files.length === 1 ? null : uniqueName(cleanName(api.title, 'api'), names)
    descriptions.push({ file, tree, api, server: serverOf(file, api, upstream), name })
  }
  return descriptions
}

/**
 * Returns the server of an API.
 * @throws Failure if neither the option nor the description contains an origin
 */
function serverOf(file: string, { servers }: ApiOutline, upstream: string | undefined): Server {
  const [server = '/'] = servers
  const absolute = servers.find((one) => /^https?:\/\//i.test(one))
  const target = upstream ?? absolute
  if (target === undefined)
    throw usageError(`the description ${file} contains no absolute server URL; add '--upstream URL'`)
  const url = URL.canParse(target) ? new URL(target) : null
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw usageError(`'${target}' is not a URL; use for example http://127.0.0.1:9000`)
  }
  if (upstream !== undefined && `${url.pathname}${url.search}` !== '/')
    throw usageError(`'${upstream}' has a path; use only scheme, host and port`)
  const base = upstream !== undefined && URL.canParse(server, url.href) ? new URL(server, url) : url
  return { origin: url.origin, basePath: base.pathname.replace(/\/+$/, '') }
}

interface AddOptions extends OpenapiOptions {
  readonly onUnsupported: 'refuse' | 'skip'
}

function addApi(draft: DocumentDraft, description: Description, options: AddOptions): void {
  const { file, tree, api, server, name } = description
  const named = (word: string): string => (name === null ? word : `${word}-${name}`)
  const upstream = draft.addUpstream(name ?? 'api', { targets: [server.origin] })
  const security = new SecurityMapping(draft, { schemes: api.securitySchemes, tree, issuer: options.issuer })
  const validation = {
    description: { file: relative(options.folder, file) },
    basePath: server.basePath || undefined,
    onUnsupported: options.onUnsupported === 'skip' ? 'skip' : undefined,
  }
  const checks = options.validate === false ? [] : [draft.addPolicy(named('openapi'), 'openapi', validation)]
  reportRest(draft, description)
  // Servers with a name usually serve several hosts, and answer 404 for the host of the gateway.
  const hasName = isIP(new URL(server.origin).hostname.replace(/^\[|\]$/g, '')) === 0
  for (const route of grouped(routesOf(api.operations, server.basePath))) {
    const { policies, unprotected } = security.protect(route.operations)
    const tag = tagOf(route)
    draft.addRoute({
      id: route.id,
      api: tag === undefined ? undefined : apiOf(draft, tag, name),
      match: { path: route.path, methods: route.methods },
      ...(route.operations.every(({ isPublic }) => isPublic) && PUBLIC),
      rewrite: hasName ? { host: 'upstream' } : undefined,
      upstream,
      policies: [...policies, ...checks],
      unprotected,
    })
    draft.report.mapped += route.operations.length
  }
}

function tagOf({ operations }: OperationRoute): string | undefined {
  return operations[0]?.tags[0]
}

/** Returns the routes with those of one tag next to each other. */
function grouped(routes: readonly OperationRoute[]): OperationRoute[] {
  const order = new Map<string | undefined, number>()
  for (const route of routes) if (!order.has(tagOf(route))) order.set(tagOf(route), order.size)
  return [...routes].sort((a, b) => order.get(tagOf(a))! - order.get(tagOf(b))!)
}

/** Returns the API of a tag, which log records and metrics contain. */
function apiOf(draft: DocumentDraft, tag: string, description: string | null): string {
  const id = cleanName(description === null ? tag : `${description}-${tag}`, 'default')
  if (!draft.apis.has(id)) draft.apis.set(id, { group: id })
  return id
}

/** Reports servers and methods that the document does not use. */
function reportRest({ report }: DocumentDraft, { api, server, tree }: Description): void {
  for (const [i, url] of api.servers.entries())
    if (i > 0)
      report.note({
        place: tree.placeOf(['servers', i]),
        what: 'servers',
        reason: `${url} is not used: descriptions list environments, and requests go to ${server.origin}`,
        remedy: 'add it to the targets of the upstream if it is a second server of this environment',
      })
  for (const { path, method, hasServers } of api.operations) {
    const place = tree.placeOf(['paths', path, method.toLowerCase()])
    const reason = `servers of operations and paths are not mapped, requests go to ${server.origin}`
    const remedy = 'add an upstream and name it in the route'
    if (hasServers) report.leaveOut({ place, what: `servers of ${method} ${path}`, reason, remedy })
    if (method === 'TRACE')
      report.leaveOut({ place, what: `TRACE ${path}`, reason: 'the gateway does not serve TRACE' })
  }
}
