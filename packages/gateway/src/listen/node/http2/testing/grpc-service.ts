import type { TestContext } from 'node:test'
import {
  credentials,
  Metadata,
  makeGenericClientConstructor,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceClientConstructor,
  type ServiceDefinition,
  type sendUnaryData,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'

const bytes = (value: Buffer): Buffer => value
const codec = {
  requestSerialize: bytes,
  requestDeserialize: bytes,
  responseSerialize: bytes,
  responseDeserialize: bytes,
}

/** One method of each kind. Messages are plain bytes. */
const SERVICE = {
  unary: { path: '/echo.Echo/Unary', requestStream: false, responseStream: false, ...codec },
  collect: { path: '/echo.Echo/Collect', requestStream: true, responseStream: false, ...codec },
  repeat: { path: '/echo.Echo/Repeat', requestStream: false, responseStream: true, ...codec },
  chat: { path: '/echo.Echo/Chat', requestStream: true, responseStream: true, ...codec },
  fail: { path: '/echo.Echo/Fail', requestStream: false, responseStream: false, ...codec },
  hang: { path: '/echo.Echo/Hang', requestStream: false, responseStream: false, ...codec },
} satisfies ServiceDefinition

export const REPEATS = 200

export interface GrpcServer {
  readonly port: number
  /** Number of calls to `hang` that clients have cancelled. */
  readonly cancelled: () => number
  readonly hanging: () => number
}

/** Starts a grpc-js server without TLS, which closes with the test. */
export async function grpcServer(t: TestContext): Promise<GrpcServer> {
  let cancelled = 0
  let hanging = 0
  const implementation: UntypedServiceImplementation = {
    unary(call: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>) {
      const trailer = new Metadata()
      trailer.set('x-seen', String(call.metadata.get('x-asked')[0] ?? ''))
      trailer.set('x-trace', String(call.metadata.get('traceparent')[0] ?? ''))
      answer(null, call.request, trailer)
    },
    collect(call: ServerReadableStream<Buffer, Buffer>, answer: sendUnaryData<Buffer>) {
      const all: Buffer[] = []
      call.on('data', (message: Buffer) => all.push(message))
      call.on('end', () => answer(null, Buffer.concat(all)))
    },
    repeat(call: ServerWritableStream<Buffer, Buffer>) {
      for (let i = 0; i < REPEATS; i++) call.write(call.request)
      call.end()
    },
    chat(call: ServerDuplexStream<Buffer, Buffer>) {
      call.on('data', (message: Buffer) => call.write(message))
      call.on('end', () => call.end())
    },
    // Without a message, the response is a single HEADERS frame: "Trailers-Only".
    fail(_call: unknown, answer: sendUnaryData<Buffer>) {
      answer({ code: status.FAILED_PRECONDITION, details: 'no: "ü"' })
    },
    hang(call: ServerUnaryCall<Buffer, Buffer>) {
      hanging++
      call.on('cancelled', () => cancelled++)
    },
  }
  const server = new Server()
  server.addService(SERVICE, implementation)
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    )
  })
  t.after(() => server.forceShutdown())
  return { port, cancelled: () => cancelled, hanging: () => hanging }
}

const Client: ServiceClientConstructor = makeGenericClientConstructor(SERVICE, 'Echo')

/** Creates a grpc-js client with the methods of the service. It closes with the test. */
export function grpcClient(t: TestContext, port: number): InstanceType<ServiceClientConstructor> {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure())
  t.after(() => client.close())
  return client
}
