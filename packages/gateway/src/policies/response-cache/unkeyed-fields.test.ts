import assert from 'node:assert/strict'
import type http from 'node:http'
import { type TestContext, test } from 'node:test'
import { type Asked, type CacheBench, cacheBench } from '../testing/caching-gateway.js'

// An upstream with a different response to each request. Responses are cached for a fixed time.

const FORCED = { forced: { ttl: '1m' } }

function counting(t: TestContext, config: object, reply: http.OutgoingHttpHeaders = {}): Promise<CacheBench> {
  return cacheBench(t, (_, res, count) => res.writeHead(200, reply).end(`for request ${count}`), config)
}

/** Returns true if the second request gets the response of the first. */
async function shares(
  { ask }: CacheBench,
  first: readonly [string, Asked?],
  second: readonly [string, Asked?],
) {
  const [a, b] = [await ask(...first), await ask(...second)]
  return a.text === b.text
}

const cookie = (value: string): Asked => ({ headers: { cookie: value } })

test('a request with a cookie that the key does not name passes by the cache', async (t) => {
  for (const config of [{}, FORCED, { allow: { cookies: false } }]) {
    const reply = { 'cache-control': 'max-age=60' }
    const bench = await counting(t, { key: { cookies: ['lang'] }, ...config }, reply)
    const pairs = [
      ['session=a; lang=tr', 'session=b; lang=tr'],
      ['lang=tr', 'session=b; lang=tr'],
      ['session=a; lang=tr', 'lang=tr'],
      ['lang=tr,session=a', 'lang=tr'],
      ['lang=tr; LANG=a', 'lang=tr'],
      ['lang=tr; nameless', 'lang=tr'],
      ['lang="tr; session=a"', 'lang="tr'],
      ['lang=tr; $Path=/', 'lang=tr'],
      ['lang=tr; =x', 'lang=tr'],
    ] as const
    for (const [i, [a, b]] of pairs.entries())
      assert.equal(await shares(bench, [`/${i}`, cookie(a)], [`/${i}`, cookie(b)]), false, `${a} ${b}`)
    assert.equal(await shares(bench, ['/same', cookie('lang=tr')], ['/same', cookie('lang=tr')]), true)
    assert.equal(await shares(bench, ['/other', cookie('lang=tr')], ['/other', cookie('lang=en')]), false)
    const two: Asked = { headers: { cookie: ['lang=tr', 'session=a'] } }
    assert.equal(await shares(bench, ['/two', two], ['/two', cookie('lang=tr')]), false, 'two lines')
  }
})

test('with allow.cookies clients share responses whatever other cookies say', async (t) => {
  const bench = await counting(t, { ...FORCED, key: { cookies: ['lang'] }, allow: { cookies: true } })
  const [a, b] = [cookie('session=a; lang=tr'), cookie('session=b; lang=tr')]
  assert.equal(await shares(bench, ['/a', a], ['/a', b]), true)
  assert.equal(await shares(bench, ['/b', a], ['/b', cookie('session=a; lang=en')]), false)
})

/** Headers that identify the caller. */
const IDENTITY = `x-user x-remote-user remote-user x-auth-request-user x-auth-request-email x-amzn-oidc-data
  x-amzn-oidc-identity x-tenant x-tenant-id ticket dpop iv-user iv-groups x-forwarded-user x-forwarded-email
  x-ms-client-principal-name x-goog-authenticated-user-email x-consumer-username x-hasura-role x-scope-orgid
  x-client-cert x-ssl-client-s-dn cf-access-authenticated-user-email x-authenticated-userid x-impersonate-user x_anything
  x-amzn-mtls-clientcert-serial-number x-arr-clientcert x-client-certificate x-client-id x-ibm-client-id x-vault-namespace
  x-employee-id x-company-id x-merchant-id x-caller-id x-msisdn eppn x-webauth-nickname x-shop-id x-team x-owner`
/** Headers that name another host, scheme, path or method. */
const TARGET = `x-http-path-override x-request-uri x-host-override x-backend-host x-original-method x-scheme
  x-invoke-path x-matched-path x-forwarded x-forwarded-host x-forwarded-proto x-forwarded-prefix forwarded
  x-original-url x-originalurl x-rewrite-url x-http-method-override x-httpmethod front-end-https x-host x-url-scheme
  x-envoy-original-path x-middleware-rewrite x-accel-mapping was-default-hostname x-waws-unencoded-url`
/** Headers that differ between requests for the same resource. */
const ORDINARY = `traceparent tracestate baggage b3 x-b3-traceid x-request-id x-correlation-id x-amzn-trace-id
  x-cloud-trace-context x-datadog-trace-id x-datadog-origin uber-trace-id sentry-trace newrelic x-client-trace-id
  x-request-start user-agent x-user-agent referer accept-language via dnt priority sec-fetch-user sec-ch-ua
  x-forwarded-for x-real-ip true-client-ip cf-connecting-ip cf-ray x-requested-with save-data sec-ch-ua cdn-loop
  x-b3-spanid x-b3-sampled x-datadog-parent-id x-datadog-tags x-original-forwarded-for cf-connecting-ipv6 cf-ipcountry
  cf-ew-via fastly-client-ip cloudfront-viewer-address cloudfront-viewer-tls x-amz-cf-id x-azure-ref x-azure-clientip
  x-appgw-trace-id x-arr-log-id x-akamai-edgescape x-vercel-forwarded-for x-vercel-ip-city fly-client-ip
  x-envoy-external-address x-envoy-attempt-count x-cluster-client-ip x-client-data x-newrelic-transaction x-instana-t
  elastic-apm-traceparent request-context x-ms-client-request-id x-operamini-phone-ua x-ja3-fingerprint x-edge-request-id`

const words = (text: string): string[] => text.split(/\s+/)

test('headers that name the caller, a host or a path are part of the key', async (t) => {
  const reached = new Set<string>()
  for (const config of [FORCED, {}]) {
    const bench = await counting(t, config, { 'cache-control': 'max-age=60' })
    for (const name of [...words(IDENTITY), ...words(TARGET)]) {
      const [a, b] = [{ headers: { [name]: 'a' } }, { headers: { [name]: 'b' } }]
      const isShared = await shares(bench, [`/${name}`, a], [`/${name}`])
      // The gateway sets some of these itself. A header that does not reach the upstream cannot change its response.
      if (bench.seen.find(({ url }) => url === `/${name}`)!.headers[name] !== 'a') continue
      reached.add(name)
      assert.equal(isShared, false, name)
      assert.equal(await shares(bench, [`/${name}`, a], [`/${name}`, b]), false, name)
      assert.equal(await shares(bench, [`/${name}/own`, a], [`/${name}/own`, a]), true, name)
    }
  }
  assert.ok(reached.size >= 45, `${reached.size} fields reach the upstream`)
})

test('fields of tracing, of browsers and of the address share responses', async (t) => {
  const bench = await counting(t, FORCED)
  for (const name of words(ORDINARY)) {
    const [a, b] = [{ headers: { [name]: '1' } }, { headers: { [name]: '2' } }]
    assert.equal(await shares(bench, [`/${name}`, a], [`/${name}`, b]), true, name)
  }
})

test('a parameter that the key names counts in whatever case it is written', async (t) => {
  const bench = await counting(t, { ...FORCED, key: { query: { only: ['id'] } } })
  for (const other of ['ID=2', 'Id=2', '%69d=2', '%49D=2', 'id=1&ID=2'])
    assert.equal(await shares(bench, [`/${other}?id=1`], [`/${other}?id=1&${other}`]), false, other)
  assert.equal(await shares(bench, ['/a?ID=1'], ['/a?ID=2']), false)
  assert.equal(await shares(bench, ['/b?id=1&x=1'], ['/b?id=1&X=2']), true)
})

test('a refusal behind a semicolon counts', async (t) => {
  for (const value of [
    'max-age=60; no-store',
    'max-age=60;private',
    'no-store; max-age=60',
    'public; no-store',
  ])
    for (const config of [{}, FORCED]) {
      const bench = await counting(t, config, { 'cache-control': value })
      assert.equal(await shares(bench, ['/a'], ['/a']), false, value)
    }
})

test('a targeted field takes the place of Cache-Control, and can be switched off or named otherwise', async (t) => {
  const reply = { 'cache-control': 'max-age=0', 'cdn-cache-control': 'max-age=60' }
  const bench = await counting(t, {}, reply)
  assert.equal(await shares(bench, ['/a'], ['/a']), true)
  await bench.configure({ targetedFields: [] })
  assert.equal(await shares(bench, ['/b'], ['/b']), false)
  const named = await counting(
    t,
    { targetedFields: ['Sluice-Cache-Control', 'CDN-Cache-Control'] },
    { ...reply, 'sluice-cache-control': 'no-store' },
  )
  assert.equal(await shares(named, ['/c'], ['/c']), false)
  const { headers } = await named.ask('/d')
  assert.equal(headers['cdn-cache-control'], 'max-age=60', 'caches in front read it too')
})

test('a refusal in a targeted field counts wherever it stands, and a client has no say in one', async (t) => {
  for (const value of [
    'max-age=60; no-store',
    'max-age=60;private',
    'max-age=60, x=(1 2);no-store',
    'max-age=60, private=?1',
  ]) {
    const bench = await counting(t, {}, { 'cache-control': 'max-age=60', 'cdn-cache-control': value })
    assert.equal(await shares(bench, ['/a'], ['/a']), false, value)
  }
  const bench = await counting(t, {}, { 'cache-control': 'max-age=60' })
  for (const value of ['no-store', 'max-age=0', 'private']) {
    const asked: Asked = { headers: { 'cdn-cache-control': value, 'surrogate-control': value } }
    assert.equal(await shares(bench, ['/a'], ['/a', asked]), true, value)
    assert.equal(await shares(bench, [`/${value}`, asked], [`/${value}`]), true, value)
  }
  const refusing = await counting(t, {}, { 'cache-control': 'no-store' })
  const asked: Asked = { headers: { 'cdn-cache-control': 'max-age=60', 'cache-control': 'max-age=60' } }
  assert.equal(await shares(refusing, ['/b', asked], ['/b', asked]), false)
})
