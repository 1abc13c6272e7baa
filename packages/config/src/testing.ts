import type { Catalog } from '@sluice/core'
import { formatDiagnostic } from './diagnostic/diagnostic.js'
import { loadDocument } from './load/load-document.js'
import type { ConfigBundle } from './plan/plan.js'

/** Loads a document of a test. @throws Error with all diagnostics if it is invalid */
export function loadOrThrow(
  yaml: string,
  catalog: Catalog,
  env: Readonly<Record<string, string | undefined>> = {},
): ConfigBundle {
  const result = loadDocument({ text: yaml, name: 'test.yaml' }, { catalog, env })
  if (result.ok) return result.bundle
  throw new Error(result.diagnostics.map(formatDiagnostic).join('\n'))
}

export { installPackage, policyCode, type WrittenPackage } from './plugins/testing.js'
