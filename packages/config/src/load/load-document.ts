import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Catalog } from '@sluice/core'
import { fillDefaults } from '../check/defaults.js'
import { documentViolations } from '../check/document-violations.js'
import { validPartsOf } from '../check/valid-parts.js'
import { wordingOf } from '../check/wording.js'
import type { Diagnostic } from '../diagnostic/diagnostic.js'
import { formatPath, valueAt } from '../diagnostic/document-path.js'
import type { DocumentSource } from '../file/document-file.js'
import { type ReadFile, readFileEnd, readTextFile } from '../file/text-file.js'
import { digestOf } from '../plan/digest.js'
import type { ConfigBundle, RoutePlan } from '../plan/plan.js'
import { planOf } from '../planning/document-plan.js'
import { describedCatalog, type PluginSet, usablePlugins } from '../plugins/plugin-set.js'
import { policyFileVersions } from '../policy/policy-files.js'
import { type Overrides, withOverrides } from '../read/overrides.js'
import { readDocument } from '../read/read-document.js'
import { ReferenceValues, type VaultValues } from '../reference/reference-values.js'
import { type ReferencedLeaves, referencedLeaves } from '../reference/referenced-leaf.js'
import { anchorPaths } from '../reference/relative-paths.js'
import { type InlinedTexts, resolveReferences } from '../reference/resolved-document.js'
import { Report } from '../report/report.js'
import { valuesOf } from '../resolve/plan-values.js'
import { type Document, documentSchema, type RouteDocument } from '../schema/document.js'
import { writtenPolicies } from '../schema/policy-uses.js'
import { writtenSecretPaths } from '../secrets/written-secrets.js'
import { inspect } from '../semantics/inspect.js'
import type { Inspection } from '../semantics/inspection.js'
import { isTemplate } from '../template/text-template.js'

/** Options for loading a document. */
export interface LoadOptions {
  readonly catalog: Catalog
  readonly env: Readonly<Record<string, string | undefined>>
  /** Reads the files that the document names. Default: from the file system. */
  readonly readFile?: ReadFile
  /** Reads the end of such a file, one character per byte. Default: from the file system. */
  readonly readEnd?: ReadFile
  readonly overrides?: Overrides
  /** Values of `${vault:PATH#KEY}`. Absent: secrets in Vault are not read, and not checked. */
  readonly secrets?: VaultValues
  /**
   * Plugins of the document, from `readPlugins`. A plugin that is missing here counts as an error of this
   * machine.
   */
  readonly plugins?: PluginSet
  /**
   * True if the document is for another machine: missing files and variables are not errors, and no values
   * are read.
   */
  readonly isForElsewhere?: boolean
  /** True if plaintext secrets are errors, except digests of secrets. The policies must be loaded. */
  readonly refusesSecrets?: boolean
  /** Called with the whole document if it is valid. */
  readonly examine?: (inspection: Inspection) => void
}

/** A bundle, or all errors of the document. */
export type LoadResult =
  | { readonly ok: true; readonly bundle: ConfigBundle; readonly warnings: readonly Diagnostic[] }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] }

/** A route of a document, with defaults filled in, and its plan. */
export interface LoadedRoute {
  readonly document: RouteDocument
  readonly plan: RoutePlan
}

const NO_PLUGINS: PluginSet = new Map()
/** Maximum size of a file that a document names, in bytes. */
const MAX_FILE_BYTES = 1024 * 1024
/** Number of bytes at the end of a database that contain its metadata. */
const END_BYTES = 128 * 1024

/** Loads a document: returns its plan or all its errors. Never throws. */
export function loadDocument(source: DocumentSource, options: LoadOptions): LoadResult {
  return loadParts(source, options).result
}

/**
 * Routes of a document in order. Null stands for a route in the loaded text; the others are already loaded.
 */
export type RouteOrder = readonly (LoadedRoute | null)[]

/** A result, with the data for loading the next version of the document incrementally. */
interface LoadedParts {
  readonly result: LoadResult
  /** The routes of the whole document, with defaults filled in. */
  readonly routes: readonly RouteDocument[]
  /** Values of references outside of routes, which the plans of routes may contain. */
  readonly sharedValues: string
}

/**
 * Loads a document of which some routes are already loaded. Fails if the text does not have exactly the
 * missing routes.
 * @param order all routes; default: those in the text
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
  const values = new ReferenceValues({
    ...{ env, readFile, documentName: source.name },
    ...(options.secrets === undefined ? {} : { secrets: options.secrets }),
  })
  const written = readDocument(source.text, catalog, (text) => values.textOf(text))
  const report = new Report(written, source.name, overrides)
  for (const deprecation of written.deprecations) report.add(deprecation)
  const root = withOverrides(written.value, overrides)
  if (options.refusesSecrets === true) reportSecrets(root, catalog, report)
  const { folder } = values
  const leaves = referencedLeaves(root, values, report)
  report.conceal(leaves)
  const { kept, resolved, inlined } = resolveReferences(root, leaves, { catalog, report })
  reportViolations(resolved, { catalog, leaves, report })
  const valid = validPartsOf(structuredClone(resolved))
  const access = {
    folder,
    readFile: (path: string) => readFile(resolve(folder, path)),
    readEnd: (path: string) => readEnd(resolve(folder, path)),
    exists: options.readFile === undefined ? existsSync : () => false,
  }
  const isComplete = valid !== null && (order === null || (!report.hasErrors && fits(order, valid.document)))
  const shared = [...leaves.values()].filter(({ path }) => path[0] !== 'routes')
  const sharedValues = JSON.stringify(shared.map(({ value }) => value))
  const routes = isComplete ? inOrder(order, valid.document.routes, ({ document }) => document) : []
  if (isComplete) {
    const inspection = { ...valid, ...access, whole: resolved, catalog, plugins, report }
    const all = { ...inspection, document: { ...valid.document, routes } }
    inspect(inspection, all)
    if (!report.hasErrors) options.examine?.(all)
  }
  const diagnostics = report.diagnostics()
  const { isForElsewhere = false } = options
  const hasErrors = isForElsewhere ? report.hasDocumentErrors : report.hasErrors
  if (!isComplete || hasErrors) return { result: { ok: false, diagnostics }, routes, sharedValues }
  const bundle = bundleOf(anchorPaths(kept, catalog, values), valid.document, {
    ...{ catalog, plugins, values: isForElsewhere ? null : values, inlined, order },
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
      remedy: 'start with version: 1',
      presumesAll: true,
    })
    return
  }
  for (const violation of documentViolations(resolved, catalog)) {
    const { path, key, keyword } = violation
    // A string with an unresolved reference has already been reported; its own value means nothing.
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

function reportSecrets(root: unknown, catalog: Catalog, report: Report): void {
  for (const path of writtenSecretPaths(root, catalog)) {
    if (path.at(-1) === 'sha256') continue
    const remedy = 'use a reference, such as ${env:NAME}; the gateway resolves it'
    report.add({ path, message: `'${formatPath(path)}' is a plaintext secret`, remedy })
  }
}

/** Returns the route plan without its order, which depends on the other routes. */
function withoutOrder({ plan }: LoadedRoute): RoutePlan {
  return plan.order === 0 ? plan : { ...plan, order: 0 }
}

interface BundleContext {
  readonly catalog: Catalog
  readonly plugins: PluginSet
  /** Values of references. Null: they are not read. */
  readonly values: ReferenceValues | null
  readonly inlined: InlinedTexts
  readonly order: RouteOrder | null
}

/**
 * Builds the bundle from the document with references. The resolved document decides which defaults apply.
 */
function bundleOf(kept: unknown, document: Document, context: BundleContext): ConfigBundle {
  fillDefaults(documentSchema, kept, document)
  for (const policy of writtenPolicies(kept)) {
    const schema = context.catalog.get(policy.use)?.schema
    if (schema !== undefined) fillDefaults(schema, policy.with, valueAt(document, [...policy.path, 'with']))
  }
  const plan = planOf(kept as Document, {
    inlined: context.inlined,
    plugins: usablePlugins(context.plugins),
    allRoutes: (routes) => inOrder(context.order, routes, withoutOrder),
  })
  return {
    plan,
    digest: digestOf(plan),
    values: context.values === null ? {} : valuesOf(plan, context.values),
  }
}
