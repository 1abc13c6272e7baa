import type { Catalog } from '@sluice/core'
import { stringify } from 'yaml'
import type { Diagnostic } from '../diagnostic/diagnostic.js'
import type { DocumentPath } from '../diagnostic/document-path.js'
import { checkFragment } from './fragment-check.js'
import { checkConflicts } from './source-conflicts.js'
import { SourceDocument } from './source-document.js'
import { BASE_FILE, isSourceDocument, partOf, type TeamScope } from './source-parts.js'

/** Options of a composition. */
export interface ComposeOptions {
  readonly catalog: Catalog
  /** Part that changes. Conflicts are reported in its files. Null: all parts. */
  readonly part: string | null
  /** Limits of the caller; null: none. */
  readonly scope: TeamScope | null
}

/** A composed document, or all errors of its parts. */
export type Composition =
  | {
      readonly ok: true
      /** The same sources result in the same text. */
      readonly text: string
      /** Returns a diagnostic about the text with its place in the source. */
      located(diagnostic: Diagnostic): Diagnostic
    }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] }

/**
 * Composes `base.yaml` and `fragments/TEAM/*.yaml` to one document: routes and upstreams of the fragments come after
 * those of base, in the order of their paths.
 * @param files all files of the source folder by path
 */
export function composeDocument(
  files: ReadonlyMap<string, Uint8Array>,
  options: ComposeOptions,
): Composition {
  const { catalog, part, scope } = options
  const names = [...files.keys()].filter(isSourceDocument).sort(baseFirst)
  const all = names.map((file) => {
    const text = Buffer.from(files.get(file)!).toString('utf8')
    return new SourceDocument({ file, owner: partOf(file) ?? '', text }, catalog)
  })
  const upstreams = new Map<string, Set<string>>()
  for (const { owner, upstreams: ofFile } of all)
    upstreams.set(owner, new Set([...(upstreams.get(owner) ?? []), ...ofFile]))
  for (const one of all) {
    if (one.owner === 'base') continue
    const ownScope = one.owner === scope?.team ? scope : null
    checkFragment(one, { catalog, files: new Set(files.keys()), upstreams, scope: ownScope })
  }
  checkConflicts(all, part)
  const diagnostics = all.flatMap(({ errors }) => errors)
  return diagnostics.length > 0 ? { ok: false, diagnostics: diagnostics.slice(0, 100) } : composed(all)
}

function baseFirst(a: string, b: string): number {
  if (a === BASE_FILE || b === BASE_FILE) return a === BASE_FILE ? -1 : 1
  return a < b ? -1 : 1
}

function composed(all: readonly SourceDocument[]): Composition {
  const routes = all.flatMap((one) => (one.value['routes'] ?? []) as unknown[])
  const upstreams = Object.assign({}, ...all.map((one) => one.value['upstreams'] ?? {})) as object
  const text = stringify(
    { ...withoutNotes(all[0]?.value ?? {}), upstreams, routes },
    { schema: 'core', lineWidth: 0, aliasDuplicateObjects: false },
  )
  const owners = all.flatMap((one) => one.routes.map((_, i) => [one, i] as const))
  const located = (diagnostic: Diagnostic): Diagnostic => {
    const [key, name, ...rest] = pathOf(diagnostic.path)
    const [ofRoute, i] = (key === 'routes' ? owners[Number(name)] : undefined) ?? []
    if (ofRoute !== undefined && i !== undefined) return ofRoute.located(diagnostic, ['routes', i, ...rest])
    const ofUpstream = all.find((one) => key === 'upstreams' && one.upstreams.includes(String(name)))
    return (ofUpstream ?? all[0]!).located(diagnostic, pathOf(diagnostic.path))
  }
  return { ok: true, text, located }
}

/** Leaves out keys such as `x-defaults`, whose anchors are resolved. */
function withoutNotes(base: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(base).filter(([key]) => !key.startsWith('x-')))
}

/** Parses a formatted path, such as `routes[0].match.path`. */
function pathOf(text: string): DocumentPath {
  const parts = text.matchAll(/\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([A-Za-z_][\w-]*)/g)
  return [...parts].map(([, i, quoted, word]) => {
    if (i !== undefined) return Number(i)
    return quoted === undefined ? word! : (JSON.parse(quoted) as string)
  })
}
