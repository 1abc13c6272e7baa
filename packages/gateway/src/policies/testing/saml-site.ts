import type { TestContext } from 'node:test'
import { inflateRawSync } from 'node:zlib'
import type { CapturePlan } from '@sluice/config'
import { loadOrThrow } from '@sluice/config/testing'
import { catalog } from '@sluice/policies'
import {
  type AssertionParts,
  AUDIENCE,
  ENTITY,
  goodAssertion,
  idp,
  responseXml,
} from '@sluice/policies-xml/testing/saml-issuer'
import { closedPort, httpOrigin } from '../../testing/origin.js'
import { startLogged } from '../../testing/traffic-records.js'
import { type Browser, SECRET } from './browser.js'

/** Address of the tests' provider, which is never called. */
export const SSO = 'https://idp.example.com/sso'
const ACS_PATH = '/saml/acs'

/** Additional options of the gateway. */
export interface SamlSiteOptions {
  readonly engine?: 'uws' | 'node'
  /** Options of `saml-login`. */
  readonly login?: object
  readonly capture?: CapturePlan
}

/**
 * Starts a gateway in front of an upstream that echoes requests: `saml` on `/header`, `/form`, `/body` and `/soap`,
 * and `saml-login` everywhere else.
 */
export async function startSamlSite(t: TestContext, options: SamlSiteOptions = {}) {
  const { engine = 'uws', login = {}, capture = null } = options
  const upstream = await httpOrigin(t, async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    res.end(JSON.stringify({ url: req.url, headers: req.headers, body }))
  })
  const port = await closedPort()
  const site = `http://127.0.0.1:${port}`
  const provider = { entityId: ENTITY, certificates: [idp.certificatePem] }
  const names = { groupsClaim: 'groups', forwardClaims: { email: 'x-email' } }
  const common = { idp: provider, audience: AUDIENCE, ...names }
  const who = { use: 'header', with: { request: { set: { 'x-who': '{{consumer.id}}' } } } }
  const api = (from: string, settings: object = {}) => ({
    ...{ id: from, match: { path: `/${from}` }, upstream: 'o' },
    policies: [{ use: 'saml', with: { ...common, recipient: recipientOf(site), from, ...settings } }, who],
  })
  const browsers = {
    ...{ ...common, idp: { ...provider, ssoUrl: SSO }, acsUrl: `${site}${ACS_PATH}` },
    ...{ session: { secrets: [SECRET] }, logout: { path: '/logout', returnTo: '/bye' }, ...login },
  }
  const { plan } = loadOrThrow(
    JSON.stringify({
      version: 1,
      upstreams: { o: { targets: [upstream.url] } },
      routes: [
        api('header'),
        { ...api('header', { once: true }), id: 'once', match: { path: '/once' } },
        ...[api('form'), api('body'), api('soap-header')],
        {
          ...{ id: 'acs', match: { path: ACS_PATH }, respond: { status: 500 } },
          policies: [{ use: 'saml-login', with: { ...browsers, acs: true } }],
        },
        { id: 'pages', upstream: 'o', policies: [{ use: 'saml-login', with: browsers }, who] },
      ],
    }),
    catalog,
  )
  const upstreams = [{ urls: [upstream.url], name: 'o' }]
  const gateway = await startLogged(
    t,
    { listener: { engine }, upstreams, routes: plan.routes },
    { fields: 'full', capture },
    { catalog, port },
  )
  return { ...gateway, acs: `${site}${ACS_PATH}` }
}

/** Audience of assertions for the API. */
export function recipientOf(site: string): string {
  return `${site}/api`
}

/** A login that the gateway has started with a redirect. */
export interface SentAway {
  /** Id of the AuthnRequest in `xml`. */
  readonly id: string
  readonly xml: string
  readonly relayState: string
}

/** Requests a page and gets the redirect to the provider. */
export async function beginLogin(browser: Browser, page: string): Promise<SentAway> {
  const response = await browser.ask(page)
  const location = response.headers.get('location')
  if (response.status !== 302 || location === null) throw new Error(`${response.status} at ${page}`)
  return sentAway(location)
}

/** Parses a redirect to the provider. */
export function sentAway(location: string): SentAway {
  const query = new URL(location).searchParams
  const xml = inflateRawSync(Buffer.from(query.get('SAMLRequest')!, 'base64')).toString()
  return { id: / ID="([^"]+)"/.exec(xml)![1]!, xml, relayState: query.get('RelayState')! }
}

/** Returns the form that the provider makes the browser post. */
export function answerOf(
  acs: string,
  { id, relayState }: SentAway,
  parts: AssertionParts = {},
): Record<string, string> {
  const xml = responseXml(goodAssertion({ recipient: acs, inResponseTo: id, ...parts }))
  return { SAMLResponse: Buffer.from(xml).toString('base64'), RelayState: relayState }
}

/** Posts a form as if a page of the provider had caused it. */
export function postForm(
  browser: Browser,
  url: string,
  fields: Record<string, string>,
  more: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const headers = {
    ...{ 'content-type': 'application/x-www-form-urlencoded', origin: new URL(SSO).origin },
    ...{ 'sec-fetch-site': 'cross-site', ...more },
  }
  return browser.ask(url, { method: 'POST', headers, body: new URLSearchParams(fields).toString() })
}
