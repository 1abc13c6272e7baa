import type { Diagnostic } from '../diagnostic/diagnostic.js'
import type { DocumentSource } from '../file/document-file.js'
import { routeJson } from '../plan/digest.js'
import type { RoutePlan } from '../plan/plan.js'
import { countLines, type RouteParts, splitRoutes } from '../read/route-parts.js'
import { replaceMarked } from '../secrets/mask.js'
import { FOLDER } from '../template/folder.js'
import { VAULT_PREFIX } from '../template/text-template.js'
import { type LoadedRoute, type LoadOptions, type LoadResult, loadParts } from './load-document.js'

/** The most recently loaded document. */
interface LoadedDocument extends Pick<RouteParts, 'head' | 'tail'> {
  readonly sharedValues: string
  /** Loaded routes by their text. */
  readonly routes: ReadonlyMap<string, LoadedRoute>
}

/**
 * Loads successive versions of a document. Routes whose text has not changed are not parsed, checked or
 * planned again; only the checks across routes are repeated. If the changed part has an error, or a route has
 * a warning, the whole document is loaded, so that messages and positions refer to the whole text.
 */
export class DocumentLoader {
  #last: LoadedDocument | null = null

  /** Loads a version of the document. @param options must be the same for all versions, except for plugins and secrets */
  load(source: DocumentSource, options: LoadOptions): LoadResult {
    const parts = (options.plugins?.size ?? 0) > 0 ? null : splitRoutes(source.text)
    if (parts === null) return loadParts(source, options).result
    const changed = this.#loadChanged(source.name, parts, options)
    if (changed !== null) return changed
    const loaded = loadParts(source, options)
    this.#remember(parts, loaded, options)
    return loaded.result
  }

  /** Loads only the changed routes. Returns null if the whole document must be loaded. */
  #loadChanged(name: string, parts: RouteParts, options: LoadOptions): LoadResult | null {
    const last = this.#last
    if (last === null || last.head !== parts.head || last.tail !== parts.tail) return null
    // The first route is always loaded: a document without routes would be checked differently.
    const known = parts.routes.map((text, i) => (i === 0 ? null : (last.routes.get(text) ?? null)))
    const fresh = parts.routes.filter((_, i) => known[i] === null)
    if (fresh.length > parts.routes.length / 2) return null
    const text = parts.head + fresh.join('') + parts.tail
    const { result, ...loaded } = loadParts({ name, text }, options, known)
    if (!result.ok || result.warnings.some(isAboutRoute)) return null
    if (loaded.sharedValues !== last.sharedValues) return null
    const shift = countLines(parts.routes) - countLines(fresh)
    const warnings = result.warnings.map((warning) => moved(warning, countLines([parts.head]) + 1, shift))
    this.#remember(parts, { result, ...loaded }, options)
    return { ...result, warnings }
  }

  #remember(
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
    this.#last = { head: parts.head, tail: parts.tail, sharedValues, routes: known }
  }
}

/** True if the route depends on file contents or secrets. Such a route is always loaded again. */
function readsFiles(text: string, plan: RoutePlan, catalog: LoadOptions['catalog']): boolean {
  if (text.includes('${file:') || text.includes(VAULT_PREFIX) || routeJson(plan).includes(FOLDER)) return true
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

/** Returns a diagnostic with its line in the whole text instead of the text with routes left out. */
function moved(warning: Diagnostic, firstRouteLine: number, shift: number): Diagnostic {
  return warning.line < firstRouteLine ? warning : { ...warning, line: warning.line + shift }
}
