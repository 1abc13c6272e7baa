import { readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Plan, RoutePlan } from '@sluice/config'
import { ApiDescription, type ApiOutline, readApiOutline } from '@sluice/policies'
import { type ExampleBody, exampleRequest, exampleResponse } from '../dev/api-examples.js'
import { CONSUMERS_FILE } from '../import/draft.js'
import { documentOf } from '../import/import.js'
import { importOpenapi } from '../import/openapi/import-openapi.js'
import { planForElsewhere } from '../input/document.js'
import { EXIT, Failure, messageOf } from '../output/failure.js'

/** The parts of a project that come from an API description. */
export interface ImportedProject {
  readonly document: string
  readonly cases: { readonly cases: readonly object[] }
  /** Other files by path: the description, and the consumers that the document reads. */
  readonly files: ReadonlyMap<string, string>
  /** Lines about parts of the description that were not mapped. */
  readonly report: readonly string[]
}

/** Target for descriptions without the URL of a server. */
const DEFAULT_TARGET = 'http://127.0.0.1:9000'
const METHODS = ['DELETE', 'PATCH', 'PUT', 'POST', 'GET']

/** Returns the parts of a project for an OpenAPI description. @throws Failure if it cannot be imported */
export async function importedProject(file: string, issuer?: string): Promise<ImportedProject> {
  const folder = dirname(file)
  const outline = await readApiOutline(file).catch((error: unknown) => {
    throw new Failure(messageOf(error), EXIT.invalid)
  })
  const hasServer = outline.servers.some((server) => /^https?:\/\//i.test(server))
  const upstream = hasServer ? {} : { upstream: DEFAULT_TARGET }
  const draft = await importOpenapi([file], { folder, allowUnprotected: false, issuer, ...upstream })
  const document = await documentOf(draft, 'yaml', folder)
  const plan = await planForElsewhere({ name: join(folder, 'gateway.yaml'), text: document })
  const files = new Map([[basename(file), readFileSync(file, 'utf8')]])
  if (draft.needsConsumers) files.set(CONSUMERS_FILE, draft.consumers.map((line) => `${line}\n`).join(''))
  const api = new ApiDescription({ file })
  const cases = [...(plan === null ? [] : routeCases(plan, outline, api)), UNKNOWN_PATH]
  return { document, files, cases: { cases }, report: draft.report.leftOut > 0 ? draft.report.lines() : [] }
}

/** Returns a case for each route whose operation has an example request, and one for a wrong method. */
function routeCases({ routes }: Plan, { operations }: ApiOutline, api: ApiDescription): object[] {
  const methods = new Map<string, string[]>()
  for (const { match } of routes) {
    const shape = shapeOf(match.path.text)
    methods.set(shape, [...(methods.get(shape) ?? []), ...match.methods])
  }
  let wrongMethod: object | null = null
  const cases = routes.flatMap((route) => {
    const basePath = basePathOf(route)
    const shape = shapeOf(route.match.path.text)
    const described = operations.find(
      ({ path, method }) => shapeOf(basePath + path) === shape && route.match.methods.includes(method),
    )
    const operation = described && api.find(described.method, described.path)
    const request = operation && exampleRequest(api, operation, basePath + described.path)
    if (!request) return []
    const unserved = METHODS.find((method) => !methods.get(shape)?.includes(method))
    if (unserved !== undefined)
      wrongMethod ??= {
        name: 'an unsupported method is refused',
        request: `${unserved} ${request.target.split('?')[0]}`,
        expect: { upstream: 'none', response: 405 },
      }
    const { method, path } = described
    const response = exampleResponse(api, operation)
    const isOpen = route.policies.every(({ use }) => use === 'openapi')
    const name = `${method} ${path} is ${isOpen ? `served by ${route.id}` : 'refused without credentials'}`
    return [{ name, ...caseOf(route, { method, ...request }, response) }]
  })
  return wrongMethod === null ? cases : [...cases, wrongMethod]
}

type Sent = NonNullable<ReturnType<typeof exampleRequest>> & { readonly method: string }

/** Returns the request and the expectations of a case. Without the credentials that a route needs, it is refused. */
function caseOf(
  route: RoutePlan,
  { method, target, headers, body }: Sent,
  response: ReturnType<typeof exampleResponse>,
): object {
  const isPlain = body === null && Object.keys(headers).length === 0
  const request = isPlain ? `${method} ${target}` : { method, path: target, ...contentOf(headers, body) }
  const isClosed = route.policies.some(({ use }) => use === 'maintenance')
  if (route.policies.some(({ use }) => use !== 'openapi'))
    return { request, expect: { route: route.id, upstream: 'none', response: isClosed ? 503 : 401 } }
  if (route.action.kind !== 'proxy' || response === null) return { request, expect: { route: route.id } }
  const { status } = response
  const { upstream } = route.action
  return {
    request,
    upstreams: { [upstream]: { status, ...contentOf(response.headers, response.body) } },
    expect: { route: route.id, upstream: { name: upstream }, response: status },
  }
}

/** Returns headers and a body as members of a case. */
function contentOf(headers: Readonly<Record<string, string>>, body: ExampleBody | null): object {
  const isJson = body?.mediaType === 'application/json'
  const fields = { ...headers, ...(body === null || isJson ? {} : { 'content-type': body.mediaType }) }
  const content =
    body === null ? {} : isJson ? { json: JSON.parse(body.text) as unknown } : { body: body.text }
  return { ...(Object.keys(fields).length > 0 && { headers: fields }), ...content }
}

const UNKNOWN_PATH = {
  name: 'an unknown path is not found',
  request: 'GET /no-such-path',
  expect: { route: 'none', upstream: 'none', response: 404 },
}

function basePathOf({ policies }: RoutePlan): string {
  const settings = policies.find(({ use }) => use === 'openapi')?.with
  return (settings as { readonly basePath?: string } | undefined)?.basePath ?? ''
}

/** Returns a text that is equal for paths that match the same requests. */
function shapeOf(path: string): string {
  return path.replaceAll(/\{[^{}]*\}/g, '{}')
}
