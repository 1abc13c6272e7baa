import '@sluice/policies/errors'
import type { Policy } from '@sluice/core'

export { xmlLanguage } from './engines/xml/language/xml-language.js'

/** Loaders of the XML policies, by policy name. `@sluice/policies` adds them to its catalog. */
export const policies: Readonly<Record<string, () => Promise<Policy>>> = {
  saml: async () => (await import('./auth/saml/policy.js')).saml,
  'saml-login': async () => (await import('./auth/saml-login/policy.js')).samlLogin,
  'ws-security': async () => (await import('./content/ws-security/policy.js')).wsSecurity,
  'xml-json': async () => (await import('./transform/xml-json/policy.js')).xmlJson,
  xsd: async () => (await import('./content/xsd/policy.js')).xsd,
  xslt: async () => (await import('./transform/xslt/policy.js')).xslt,
}
