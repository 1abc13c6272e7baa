import { parentPort, workerData } from 'node:worker_threads'
import {
  type ConfigBundle,
  type Diagnostic,
  DocumentLoader,
  type DocumentSource,
  diffBundles,
  displayDocument,
  displayPlan,
  loadBodyLanguages,
  loadNamedPolicies,
  loadPlannedPolicies,
  type Overrides,
  type Plan,
  type PlanChange,
  packBundle,
  readPlugins,
  unpackBundle,
  type VaultValues,
  vaultRequestOf,
} from '@sluice/config'
import type { Catalog } from '@sluice/core'
import type { ExplainedRequest } from '../../explain/arrival.js'
import type { TrafficRecord } from '../../explain/explain-record.js'

/** Settings passed to the document thread. */
export interface CheckSettings {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly overrides: Overrides
}

/** Request to the document thread. */
export type DocumentRequest =
  | {
      readonly kind: 'check'
      readonly source: DocumentSource
      readonly serving: ConfigBundle | null
      readonly secrets: VaultValues
    }
  | { readonly kind: 'vault'; readonly source: DocumentSource }
  | { readonly kind: 'display'; readonly bundle: ConfigBundle }
  | BundleQuestion

/** Question about a bundle that is answered with JSON. */
export type BundleQuestion =
  | { readonly kind: 'explain'; readonly bundle: ConfigBundle; readonly request: ExplainedRequest }
  | { readonly kind: 'explain-record'; readonly bundle: ConfigBundle; readonly record: TrafficRecord }
  | { readonly kind: 'document'; readonly bundle: ConfigBundle; readonly text: string }

type CheckRequest = Extract<DocumentRequest, { readonly kind: 'check' }>

/** A bundle with its routes as texts, or all errors in the document. */
export type CheckResult =
  | {
      readonly ok: true
      readonly bundle: ConfigBundle
      readonly warnings: readonly Diagnostic[]
      /** Changes to the running plan. Values of references are named but not shown. */
      readonly changes: readonly PlanChange[]
    }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] }

/**
 * Answers the messages sent to this thread. `check` turns a document into its bundle or its errors; `display`
 * returns a bundle's plan with all secrets masked; `vault` returns the secrets that a document needs; the others
 * return JSON, or an error. Call it once, in the thread's entry file.
 */
export function checkDocuments(catalog: Catalog): void {
  const settings = { catalog, ...(workerData as CheckSettings) }
  const loader = new DocumentLoader()
  const check = async ({ source, serving, secrets }: CheckRequest): Promise<CheckResult> => {
    await Promise.all([loadBodyLanguages(source.text, catalog), loadNamedPolicies(source.text, catalog)])
    const plugins = await readPlugins(source, catalog)
    let result = loader.load(source, { ...settings, secrets, plugins })
    if (!result.ok && catalog.load !== undefined) {
      await catalog.load(() => true)
      result = loader.load(source, { ...settings, secrets, plugins })
    }
    if (!result.ok) return result
    return {
      ...result,
      bundle: packBundle(result.bundle),
      changes: diffBundles(serving, result.bundle, catalog),
    }
  }
  const display = async (bundle: ConfigBundle): Promise<Plan> => {
    const { plan } = unpackBundle(bundle)
    await loadPlannedPolicies(plan, catalog)
    return displayPlan(plan, catalog)
  }
  const tell = async (asked: BundleQuestion): Promise<unknown> => {
    const bundle = unpackBundle(asked.bundle)
    await loadPlannedPolicies(bundle.plan, catalog)
    if (asked.kind === 'document') return { yaml: displayDocument(asked.text, catalog, bundle.plan.plugins) }
    // Only for these, because they load the modules of the request path.
    if (asked.kind === 'explain') {
      const { explainRequest } = await import('../../explain/explain-request.js')
      return explainRequest(bundle, catalog, asked.request)
    }
    const { explainRecord } = await import('../../explain/explain-record.js')
    return explainRecord(asked.record, displayPlan(bundle.plan, catalog), catalog)
  }
  const answerTo = async (asked: DocumentRequest): Promise<unknown> => {
    if (asked.kind === 'check') return check(asked)
    if (asked.kind === 'display') return display(asked.bundle)
    if (asked.kind === 'vault') return vaultRequestOf(asked.source, settings)
    return tell(asked).then(
      (answer) => JSON.stringify(answer),
      (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
    )
  }
  parentPort!.on('message', async (asked: DocumentRequest) => {
    parentPort!.postMessage(await answerTo(asked))
  })
}
