import { visibleText } from '@sluice/core/visible-text'
import { Document, isMap, isPair, isScalar, isSeq, visit, type YAMLMap, type YAMLSeq } from 'yaml'
import { EXIT, Failure } from '../output/failure.js'
import { cleanName, type TakenNames, uniqueName } from './names.js'
import { type FindingText, ImportReport } from './report.js'

/** A JSON value of the document. Undefined members are left out. */
type Part = Readonly<Record<string, unknown>>

/** A policy in the chain of a route: the id of a shared policy, or an inline policy. */
type PolicyEntry = string | Part

/** A route of the document. */
export interface DraftRoute extends Part {
  readonly id: string
  /** Comment above the route. */
  readonly comment?: string
  readonly policies?: readonly PolicyEntry[]
  /** Unmapped protections of the route, which then refuses requests. */
  readonly unprotected?: readonly string[]
}

/** A reference such as `${env:NAME}`. All other texts are literal: `${` is escaped in them. */
export class Reference {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Returns a list or mapping, or undefined if it is empty. The document leaves it out then. */
export function filled<T extends object>(value: T): T | undefined {
  return Object.keys(value).length > 0 ? value : undefined
}

/** Part of an upstream without a total timeout, as in the source. The linter accepts it there. */
export const NO_TOTAL_LIMIT = { 'x-lint': { disable: ['no-limit'] } }

/** Name of the consumers file that documents refer to, in their folder. */
export const CONSUMERS_FILE = 'consumers.jsonl'
/** Stands for the path of the consumers file in policies. */
export const CONSUMERS = new Reference(CONSUMERS_FILE)

const REFUSAL = {
  id: 'not-imported',
  use: 'maintenance',
  with: { message: 'This route is closed until its protection has been configured.' },
}
const REFUSAL_COMMENT =
  ' Closes routes whose protection was not imported. Remove it from a route once the route is protected.'
/** Maximum number of routes of an imported document. */
const MAX_ROUTES = 20_000
const LINE_WIDTH = 100
/** Maximum length of a list or mapping on one line, as JSON. */
const MAX_FLOW = 70

/** A Sluice document under construction, with the report of its import. */
export class DocumentDraft {
  readonly report = new ImportReport()
  readonly listeners: Part[] = []
  readonly upstreams = new Map<string, Part>()
  readonly apis = new Map<string, Part>()
  readonly routes: DraftRoute[] = []
  /** Lines of the consumers file. Policies with `CONSUMERS` read it. */
  readonly consumers: string[] = []
  /** True if routes stay open whose protection was not mapped. */
  readonly allowsUnprotected: boolean
  readonly #title: string
  readonly #policies = new Map<string, Part>()
  readonly #policyIds = new Map<string, string>()
  readonly #upstreamNames = new Map<string, string>()
  readonly #routeIds: TakenNames = new Map()
  readonly #takenPolicyIds: TakenNames = new Map([[REFUSAL.id, 1]])
  readonly #takenUpstreams: TakenNames = new Map()
  /** Priority and match of each route. */
  readonly #matches = new Set<string>()
  /** Priority to try next, by wanted priority and match. */
  readonly #nextPriorities = new Map<string, number>()
  #needsConsumers = false

  constructor(title: string, allowUnprotected: boolean) {
    this.#title = title
    this.allowsUnprotected = allowUnprotected
  }

  /** Adds a shared policy and returns its id. Equal policies of one owner share one id. */
  addPolicy(name: string, use: string, options: Part | undefined, owner = ''): string {
    const key = JSON.stringify([use, options, owner])
    if (options?.['consumers'] === CONSUMERS) this.#needsConsumers = true
    const known = this.#policyIds.get(key)
    if (known !== undefined) return known
    const id = uniqueName(cleanName(name, use), this.#takenPolicyIds)
    this.#policyIds.set(key, id)
    this.#policies.set(id, { id, use, with: options })
    return id
  }

  /** True if a policy of the document reads the consumers file. */
  get needsConsumers(): boolean {
    return this.#needsConsumers
  }

  /** Adds an upstream and returns its name. Equal upstreams share one name. */
  addUpstream(name: string, upstream: Part): string {
    const key = JSON.stringify(upstream)
    const known = this.#upstreamNames.get(key)
    if (known !== undefined) return known
    const free = uniqueName(cleanName(name, 'upstream'), this.#takenUpstreams)
    this.#upstreamNames.set(key, free)
    this.upstreams.set(free, upstream)
    return free
  }

  /** Adds a route with a unique id, and closes it if a protection of the source was not mapped. */
  addRoute(route: DraftRoute): string {
    if (this.routes.length >= MAX_ROUTES)
      throw new Failure(`the source has more than ${MAX_ROUTES} routes; import it in parts`, EXIT.invalid)
    const id = uniqueName(cleanName(route.id, 'route'), this.#routeIds)
    const { unprotected = [], policies = [], comment, ...rest } = route
    const isClosed = unprotected.length > 0 && !this.allowsUnprotected
    if (isClosed && !this.#policies.has(REFUSAL.id)) this.#policies.set(REFUSAL.id, REFUSAL)
    const chain = [...new Set(isClosed ? [REFUSAL.id, ...policies] : policies)]
    const missing = `${isClosed ? 'Closed: ' : ''}not imported: ${unprotected.join(', ')}`
    const remark = unprotected.length === 0 ? comment : [comment, missing].filter(Boolean).join('\n')
    const match = JSON.stringify(rest['match'] ?? {})
    const priority = this.#freePriority(match, rest['priority'] as number | undefined)
    this.routes.push({ ...rest, priority, id, comment: remark, policies: filled(chain) } as DraftRoute)
    return id
  }

  /** Reports an unmapped protection. Routes that list `finding.what` in `unprotected` are closed. */
  reportUnprotected(finding: FindingText): void {
    this.report.security({
      ...finding,
      reason: `${finding.reason}; ${this.allowsUnprotected ? 'the route is NOT protected' : 'the route returns 503'}`,
    })
  }

  /** Returns the document as formatted YAML, or as JSON. @param consumersFile path of the consumers file */
  render(format: 'yaml' | 'json', consumersFile = CONSUMERS_FILE): string {
    const value = escaped(consumersFile, {
      version: 1,
      listeners: filled(this.listeners),
      upstreams: filled(Object.fromEntries(this.upstreams)),
      policies: filled([...this.#policies.values()]),
      apis: filled(Object.fromEntries(this.apis)),
      routes: this.routes.map(({ id, comment: _, match, priority, ...rest }) => ({
        id,
        match,
        priority,
        ...rest,
      })),
    })
    if (format === 'json') return `${JSON.stringify(value, null, 2)}\n`
    const document = new Document(value, { aliasDuplicateObjects: false })
    document.commentBefore = ` ${commentText(this.#title)}`
    this.#addComments(document)
    visit(document, { Collection: (_, node) => compact(node) })
    return document.toString({ lineWidth: LINE_WIDTH, singleQuote: true, flowCollectionPadding: true })
  }

  /** Returns the highest free priority for a match. Of two routes for the same requests, the first one wins. */
  #freePriority(match: string, wanted: number | undefined): number | undefined {
    const key = `${wanted ?? 0} ${match}`
    let free = this.#nextPriorities.get(key) ?? wanted ?? 0
    while (this.#matches.has(`${free} ${match}`)) free--
    this.#matches.add(`${free} ${match}`)
    this.#nextPriorities.set(key, free - 1)
    return free === 0 ? wanted : free
  }

  #addComments(document: Document): void {
    const policies = document.get('policies')
    if (isSeq(policies))
      for (const item of policies.items)
        if (isMap(item) && item.get('id') === REFUSAL.id) item.commentBefore = REFUSAL_COMMENT
    const routes = document.get('routes')
    if (!isSeq(routes)) return
    for (const [i, item] of routes.items.entries()) {
      const comment = this.routes[i]?.comment
      if (isMap(item) && comment !== undefined)
        item.commentBefore = comment
          .split('\n')
          .map((line) => ` ${commentText(line)}`)
          .join('\n')
    }
  }
}

/** Writes a short list or mapping of single values on one line. */
function compact(node: YAMLMap | YAMLSeq): void {
  const parts = node.items.map((item) => (isPair(item) ? item.value : item))
  if (parts.every(isScalar) && JSON.stringify(node).length <= MAX_FLOW) node.flow = true
}

/** Removes characters that would end a comment or confuse a terminal. */
function commentText(text: string): string {
  return visibleText(text).slice(0, 300)
}

/** Escapes `${` in all texts except references, so that a source cannot read variables or files. */
function escaped(consumersFile: string, value: unknown): unknown {
  const inner = (part: unknown): unknown => escaped(consumersFile, part)
  if (value === CONSUMERS) return inner(consumersFile)
  if (value instanceof Reference) return value.text
  if (typeof value === 'string') return value.replaceAll('${', () => '$${')
  if (Array.isArray(value)) return value.map(inner)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(members.map(([name, member]) => [String(inner(name)), inner(member)]))
}
