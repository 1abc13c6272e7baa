import { type CompileEnv, definePolicy, type Step } from '@sluice/core'
import { loadLibxml } from '../../engines/xml/libxml.js'
import { DEFAULT_HEADER, type SamlConfig, samlSchema } from './schema.js'

/** The `saml` policy. Requires a signed SAML assertion, and identifies the consumer. */
export const saml = definePolicy({
  name: 'saml',
  summary:
    'Requires a SAML 2.0 assertion in a header, a body or a form, checks its signature, times and audience, and identifies the consumer.',
  schema: samlSchema,
  cost: 'cpu',
  secretNames: ({ from = 'header', name = DEFAULT_HEADER }) => (from === 'header' ? [name] : []),
  authenticates: ({ from = 'header' }) => (from === 'header' ? 'request' : 'body'),
  compile: (config, env) => compileStep(config, env),
})

/** Loads the XML code only for gateways that use this policy. */
async function compileStep(config: SamlConfig, env: CompileEnv): Promise<Step> {
  await loadLibxml()
  const [{ SamlGate }, { openIdentityProvider }] = await Promise.all([
    import('./gate.js'),
    import('./idp.js'),
  ])
  const gate = new SamlGate(config, openIdentityProvider(config.idp, env), env)
  if ((config.from ?? 'header') === 'header') return { name: 'saml', onRequest: (x) => gate.admitHeader(x) }
  return {
    name: 'saml',
    decidesOnBody: true,
    onRequest: (x) => gate.admitBody(x),
    onRequestBody: (x, body) => gate.readBody(x, body),
  }
}
