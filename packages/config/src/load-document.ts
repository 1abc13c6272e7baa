import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Catalog } from '@sluice/core'
import { fillDefaults } from './check/defaults.js'
import { documentViolations } from './check/document-violations.js'
import { soundPartsOf } from './check/sound-parts.js'
import { wordingOf } from './check/wording.js'
import type { Diagnostic } from './diagnostic.js'
import { digestOf } from './digest.js'
import type { DocumentSource } from './document-file.js'
import type { LoadedRoute } from './document-loader.js'
import { formatPath, valueAt } from './document-path.js'
import { type Overrides, withOverrides } from './overrides.js'
import type { ConfigBundle, RoutePlan } from './plan.js'
import { planOf } from './planning/document-plan.js'
import { describedCatalog, type PluginSet, usablePlugins } from './plugins/plugin-set.js'
import { policyFileVersions } from './policy-files.js'
import { writtenPolicies } from './policy-uses.js'
import { valuesOf } from './reference/plan-values.js'
import { ReferenceValues } from './reference/reference-values.js'
import { type ReferencedLeaves, referencedLeaves } from './reference/referenced-leaf.js'
import { anchorPaths } from './reference/relative-paths.js'
import { settleReferences, type TakenTexts } from './reference/settled-document.js'
import { isTemplate } from './reference/text-template.js'
import { Report } from './report.js'
import { type Document, documentSchema, type RouteDocument } from './schema/document.js'
import { inspect } from './semantics/inspect.js'
import { readYaml } from './source/yaml-source.js'
import { type ReadFile, readFileEnd, readTextFile } from './text-file.js'

/** What a document is loaded with. */
export interface LoadOptions {
  readonly catalog: Catalog
  readonly env: Readonly<Record<string, string | undefined>>
  /** Reads the files that the document names; from the file system when absent. */
  readonly readFile?: ReadFile
  /** Reads the end of such a file, a character for each byte; from the file system when absent. */
  readonly readEnd?: ReadFile
  readonly overrides?: Overrides
  /** The plugins that the document names, as `readPlugins` has found them; those that are missing are of another machine. */
  readonly plugins?: PluginSet
  /** True if a gateway on another machine loads the document: missing files and variables are not errors, and no values are read. */
  readonly isForElsewhere?: boolean
}

/** A bundle, or everything that is wrong with the document. */
export type LoadResult =
  | { readonly ok: true; readonly bundle: ConfigBundle; readonly warnings: readonly Diagnostic[] }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] }

const NO_PLUGINS: PluginSet = new Map()
/** Largest file that a document names, in bytes. */
const MAX_FILE_BYTES = 1024 * 1024
/** The metadata of a database is within it. */
const END_BYTES = 128 * 1024

/** Turns the text of a document into a plan, or says everything that is wrong with it. Never throws. */
export function loadDocument(source: DocumentSource, options: LoadOptions): LoadResult {
  return loadParts(source, options).result
}

/** The routes of a document in its order; null stands for one that the loaded text has. */
export type RouteOrder = readonly (LoadedRoute | null)[]

/** A result with what the next version of the document can be loaded with. */
interface LoadedParts {
  readonly result: LoadResult
  /** All routes of the document, with their defaults filled. */
  readonly routes: readonly RouteDocument[]
  /** Values of references outside of the routes, which the plans of routes may contain. */
  readonly sharedValues: string
}

/**
 * Loads a document of which other routes are known already. Fails if the text has more or fewer routes than gaps.
 * @param order all routes; default: those of the text.
 */
export function loadParts(
  source: DocumentSource,
  options: LoadOptions,
  order: RouteOrder | null = null,
): LoadedParts {
  const { env, overrides = {}, plugins = NO_PLUGINS } = options
  const catalog = describedCatalog(options.catalog, usablePlugins(plugins))
  const {
    readFile = (path) => readTextFile(path, MAX_FILE_BYTES),
    readEnd = (path) => readFileEnd(path, END_BYTES),
  } = options
  const yaml = readYaml(source.text)
  const report = new Report(yaml, source.name, overrides)
  const root = withOverrides(yaml.value, overrides)
  const values = new ReferenceValues({ env, readFile, documentName: source.name })
  const { folder } = values
  const leaves = referencedLeaves(root, values, report)
  report.conceal(leaves)
  const { kept, resolved, taken } = settleReferences(root, leaves, catalog)
  reportViolations(resolved, { catalog, leaves, report })
  const sound = soundPartsOf(structuredClone(resolved))
  const access = {
    folder,
    readFile: (path: string) => readFile(resolve(folder, path)),
    readEnd: (path: string) => readEnd(resolve(folder, path)),
    exists: options.readFile === undefined ? existsSync : () => false,
  }
  const isComplete = sound !== null && (order === null || (!report.hasErrors && fits(order, sound.document)))
  const shared = [...leaves.values()].filter(({ path }) => path[0] !== 'routes')
  const sharedValues = JSON.stringify(shared.map(({ value }) => value))
  const routes = isComplete ? inOrder(order, sound.document.routes, ({ document }) => document) : []
  if (isComplete) {
    const inspection = { ...sound, ...access, whole: resolved, catalog, plugins, report }
    inspect(inspection, { ...inspection, document: { ...sound.document, routes } })
  }
  const diagnostics = report.diagnostics()
  const { isForElsewhere = false } = options
  const hasErrors = isForElsewhere ? report.hasDocumentErrors : report.hasErrors
  if (!isComplete || hasErrors) return { result: { ok: false, diagnostics }, routes, sharedValues }
  const bundle = bundleOf(anchorPaths(kept, catalog, values), sound.document, {
    ...{ catalog, plugins, values: isForElsewhere ? null : values, taken, order },
  })
  const files = options.readFile === undefined ? policyFileVersions(resolved, { catalog, folder }) : {}
  const whole = { ...bundle, values: { ...files, ...bundle.values } }
  return { result: { ok: true, bundle: whole, warnings: diagnostics }, routes, sharedValues }
}

function fits(order: RouteOrder, { routes }: Document): boolean {
  return order.filter((known) => known === null).length === routes.length
}

/** Merges newly loaded routes with cached ones, in document order. */
function inOrder<T>(order: RouteOrder | null, loaded: T[], partOf: (route: LoadedRoute) => T): T[] {
  if (order === null) return loaded
  let next = 0
  return order.map((known) => (known === null ? loaded[next++]! : partOf(known)))
}

interface ViolationContext {
  readonly catalog: Catalog
  readonly leaves: ReferencedLeaves
  readonly report: Report
}

function reportViolations(resolved: unknown, { catalog, leaves, report }: ViolationContext): void {
  if (resolved === null || resolved === undefined) {
    report.add({
      path: [],
      message: 'the document is empty',
      remedy: 'begin with version: 1',
      presumesAll: true,
    })
    return
  }
  for (const violation of documentViolations(resolved, catalog)) {
    const { path, key, keyword } = violation
    // A text whose references have no value is reported once, and not for what it looks like without them.
    if (key === null && leaves.get(formatPath(path))?.value === null) continue
    if (key !== null && isTemplate(key)) continue
    const wording = wordingOf(violation, report.referencesAt(path))
    const isAbsence = keyword === 'required' || keyword === 'choice'
    report.add({
      ...wording,
      path: key === null ? path : [...path, key],
      at: key !== null || isAbsence ? 'key' : 'value',
      ...(isAbsence ? { presumesAll: true } : {}),
    })
  }
}

/** Returns the route plan without its order, which depends on the other routes. */
function withoutOrder({ plan }: LoadedRoute): RoutePlan {
  return plan.order === 0 ? plan : { ...plan, order: 0 }
}

interface BundleContext {
  readonly catalog: Catalog
  readonly plugins: PluginSet
  /** Null: the values of references are not looked at. */
  readonly values: ReferenceValues | null
  readonly taken: TakenTexts
  readonly order: RouteOrder | null
}

/** Builds the bundle from the form that keeps references; the resolved form decides what defaults apply. */
function bundleOf(kept: unknown, document: Document, context: BundleContext): ConfigBundle {
  fillDefaults(documentSchema, kept, document)
  for (const policy of writtenPolicies(kept)) {
    const schema = context.catalog.get(policy.use)?.schema
    if (schema !== undefined) fillDefaults(schema, policy.with, valueAt(document, [...policy.path, 'with']))
  }
  const plan = planOf(kept as Document, {
    taken: context.taken,
    plugins: usablePlugins(context.plugins),
    allRoutes: (routes) => inOrder(context.order, routes, withoutOrder),
  })
  return {
    plan,
    digest: digestOf(plan),
    values: context.values === null ? {} : valuesOf(plan, context.values),
  }
}
