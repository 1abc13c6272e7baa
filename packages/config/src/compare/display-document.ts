import type { Catalog } from '@sluice/core'
import { readYaml } from '@sluice/core/yaml'
import { stringify } from 'yaml'
import { isMapping } from '../diagnostic/document-path.js'
import type { Plan } from '../plan/plan.js'
import { describedCatalog } from '../plugins/plugin-set.js'
import { normalizeDocument } from '../read/normalized.js'
import { documentSchema } from '../schema/document.js'
import { maskSecrets, maskText, maskTexts } from '../secrets/mask.js'
import { displayPolicyOptions } from './display-plan.js'

/** Parts of a route in which any text may contain a secret. */
const FREE_TEXTS = ['match', 'rewrite', 'redirect', 'respond']

/**
 * Returns a document as it may be shown: secrets are masked as in `displayPlan`. Keys have their current names. Comments
 * and anchors are left out, because a comment may contain a secret.
 * @param plugins of the document's plan.
 */
export function displayDocument(text: string, ownCatalog: Catalog, plugins: Plan['plugins']): string {
  const catalog = describedCatalog(ownCatalog, plugins)
  const { value } = normalizeDocument(readYaml(text).value, catalog)
  const masked = maskSecrets(documentSchema, value)
  const shown = isMapping(masked) ? { ...masked, routes: shownRoutes(masked['routes']) } : masked
  return stringify(withPolicies(shown, value, catalog), { lineWidth: 0, aliasDuplicateObjects: false })
}

function shownRoutes(routes: unknown): unknown {
  if (!Array.isArray(routes)) return routes
  return routes.map((route) => {
    if (!isMapping(route)) return route
    const members = Object.entries(route).map(([name, part]) => [
      name,
      FREE_TEXTS.includes(name) ? maskTexts(part) : part,
    ])
    return Object.fromEntries(members)
  })
}

/** Masks the options and conditions of all policies, wherever they are. */
function withPolicies(shown: unknown, written: unknown, catalog: Catalog): unknown {
  if (Array.isArray(shown))
    return shown.map((item, i) =>
      withPolicies(item, Array.isArray(written) ? written[i] : undefined, catalog),
    )
  if (!isMapping(shown)) return shown
  const source = isMapping(written) ? written : {}
  const { use } = source
  const members = Object.entries(shown).map(([name, part]) => {
    if (typeof use === 'string' && name === 'with')
      return [name, displayPolicyOptions(use, source['with'], catalog)]
    if (typeof use === 'string' && name === 'when' && typeof part === 'string') return [name, maskText(part)]
    return [name, withPolicies(part, source[name], catalog)]
  })
  return Object.fromEntries(members)
}
