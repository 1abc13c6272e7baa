import { dirname } from 'node:path'
import type { Diagnostic } from './diagnostic.js'
import { routeJson } from './digest.js'
import type { DocumentSource } from './document-file.js'
import { type LoadOptions, type LoadResult, loadParts } from './load-document.js'
import { replaceMarked } from './mask.js'
import type { RoutePlan } from './plan.js'
import { FOLDER } from './reference/folder.js'
import { countLines, type RouteParts, splitRoutes } from './route-parts.js'
import type { RouteDocument } from './schema/document.js'

/** A route as a document has it, with its defaults filled, and its plan. */
export interface LoadedRoute {
  readonly document: RouteDocument
  readonly plan: RoutePlan
}

/** The document that was loaded last. */
interface LoadedDocument extends Pick<RouteParts, 'head' | 'tail'> {
  /** Relative files begin in it. */
  readonly folder: string
  readonly sharedValues: string
  /** By the text of a route. */
  readonly routes: ReadonlyMap<string, LoadedRoute>
}

/**
 * Loads one version of a document after another. Of routes whose text is the same as before, nothing is parsed, checked or
 * planned again; only how they fit together is. A document with anything wrong in its changed part, or with a warning about a
 * route, is loaded as a whole: so messages and positions are always those of the whole text.
 */
export class DocumentLoader {
  #last: LoadedDocument | null = null

  /** @param options the same for all documents, except for plugins. */
  load(source: DocumentSource, options: LoadOptions): LoadResult {
    const parts = (options.plugins?.size ?? 0) > 0 ? null : splitRoutes(source.text)
    if (parts === null) return loadParts(source, options).result
    const changed = this.#loadChanged(source.name, parts, options)
    if (changed !== null) return changed
    const loaded = loadParts(source, options)
    this.#remember(source.name, parts, loaded, options)
    return loaded.result
  }

  /** Null: the whole document has to be loaded. */
  #loadChanged(name: string, parts: RouteParts, options: LoadOptions): LoadResult | null {
    const last = this.#last
    if (
      last === null ||
      last.folder !== dirname(name) ||
      last.head !== parts.head ||
      last.tail !== parts.tail
    )
      return null
    // A document without a route says something else than one whose routes have not changed.
    const known = parts.routes.map((text, i) => (i === 0 ? null : (last.routes.get(text) ?? null)))
    const fresh = parts.routes.filter((_, i) => known[i] === null)
    if (fresh.length > parts.routes.length / 2) return null
    const text = parts.head + fresh.join('') + parts.tail
    const { result, ...loaded } = loadParts({ name, text }, options, known)
    if (!result.ok || result.warnings.some(isAboutRoute)) return null
    if (loaded.sharedValues !== last.sharedValues) return null
    const shift = countLines(parts.routes) - countLines(fresh)
    const warnings = result.warnings.map((warning) => moved(warning, countLines([parts.head]) + 1, shift))
    this.#remember(name, parts, { result, ...loaded }, options)
    return { ...result, warnings }
  }

  #remember(
    name: string,
    parts: RouteParts,
    { result, routes, sharedValues }: ReturnType<typeof loadParts>,
    { catalog }: LoadOptions,
  ): void {
    const before = this.#last?.routes
    this.#last = null
    if (!result.ok || routes.length !== parts.routes.length || result.warnings.some(isAboutRoute)) return
    const plans = new Map(result.bundle.plan.routes.map((plan) => [plan.id, plan]))
    const known = new Map<string, LoadedRoute>()
    for (const [i, text] of parts.routes.entries()) {
      const document = routes[i]!
      const plan = plans.get(document.id)!
      const isKnown = before?.get(text)?.document === document
      if (isKnown || !readsFiles(text, plan, catalog)) known.set(text, { document, plan })
    }
    this.#last = { folder: dirname(name), head: parts.head, tail: parts.tail, sharedValues, routes: known }
  }
}

/** True if the route depends on the content of files. Such a route is loaded each time. */
function readsFiles(text: string, plan: RoutePlan, catalog: LoadOptions['catalog']): boolean {
  if (text.includes('${file:') || routeJson(plan).includes(FOLDER)) return true
  let hasPath = false
  const replace = (path: unknown): unknown => {
    hasPath ||= typeof path === 'string'
    return path
  }
  for (const { use, with: settings } of plan.policies) {
    const schema = catalog.get(use)?.schema
    if (schema !== undefined) replaceMarked(schema, settings, { keyword: 'path', replace })
  }
  return hasPath
}

function isAboutRoute({ path }: Diagnostic): boolean {
  return path.startsWith('routes')
}

/** The diagnostic of a text from which routes were left out, with its line in the whole text. */
function moved(warning: Diagnostic, firstRouteLine: number, shift: number): Diagnostic {
  return warning.line < firstRouteLine ? warning : { ...warning, line: warning.line + shift }
}
