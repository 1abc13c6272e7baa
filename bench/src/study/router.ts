import type { PathPlan, RoutePlan } from '@sluice/config'
import { Exchange } from '@sluice/core'
import { type Candidate, compileRouter } from '@sluice/gateway/bench'
import { optionsOf } from './options.js'

/** Nanoseconds per match for growing numbers of routes: the cost must not grow with them. */
const SIZES = [10, 100, 1000, 10_000]
const MATCHES = 300_000
optionsOf({})

let isWarm = false
main()

function main(): void {
  console.log('| routes | exact | template | prefix | miss |\n| --- | --- | --- | --- | --- |')
  // The first table warms the code up and is not shown.
  for (const size of [100, ...SIZES]) {
    const router = compileRouter(candidates(size))
    const cells = ['exact', 'template', 'prefix', 'miss'].map((kind) => measure(router, requests(kind, size)))
    if (size !== 100 || isWarm)
      console.log(`| ${size} | ${cells.map((ns) => `${ns.toFixed(0)} ns`).join(' | ')} |`)
    isWarm = true
  }
}

function measure(
  router: { match(x: Exchange): { readonly value: unknown } },
  paths: readonly Exchange[],
): number {
  let found = 0
  const startedNs = process.hrtime.bigint()
  for (let i = 0; i < MATCHES; i++) {
    if (router.match(paths[i % paths.length]!).value !== null) found++
  }
  const ns = Number(process.hrtime.bigint() - startedNs) / MATCHES
  if (found !== 0 && found !== MATCHES) throw new Error('the requests of one kind must all match or all miss')
  return ns
}

function requests(kind: string, size: number): Exchange[] {
  return Array.from({ length: 64 }, (_, i) => {
    const n = (i * 7919) % Math.floor(size / 3)
    const paths: Record<string, string> = {
      exact: `/api/exact-${n}/list`,
      template: `/api/users-${n}/42/orders`,
      prefix: `/api/files-${n}/a/b/c.txt`,
      miss: `/nowhere/${n}/at/all`,
    }
    const x = new Exchange()
    x.method = 'GET'
    x.host = 'api.example.com'
    x.path = paths[kind]!
    return x
  })
}

function candidates(size: number): Candidate<number>[] {
  return Array.from({ length: size }, (_, i) => ({ plan: routePlan(i), when: null, value: i }))
}

function routePlan(i: number): RoutePlan {
  const n = Math.floor(i / 3)
  const paths: readonly PathPlan[] = [
    path('exact', ['api', `exact-${n}`, 'list']),
    path('template', ['api', `users-${n}`, '{id}', 'orders']),
    path('prefix', ['api', `files-${n}`]),
  ]
  return {
    id: `r${i}`,
    order: 0,
    match: { hosts: [], path: paths[i % 3]!, methods: ['GET'], headers: [], query: [], when: null },
    api: null,
    priority: 0,
    encodedSlashes: 'refuse',
    rewrite: null,
    action: { kind: 'respond', status: 200, headers: [], body: '' },
    timeouts: null,
    policies: [],
    log: null,
  }
}

function path(kind: PathPlan['kind'], parts: readonly string[]): PathPlan {
  const segments = parts.map((part) =>
    part.startsWith('{')
      ? { kind: 'param' as const, name: part.slice(1, -1) }
      : { kind: 'literal' as const, text: part },
  )
  return { text: `/${parts.join('/')}`, kind, segments }
}
