import { unpackChunks } from '@sluice/control-client'
import { type Static, Type } from '@sluice/core'
import { endpoint, type Routes } from './api.js'
import { ControlProblem } from './problem.js'
import { ChunksBody } from './schemas.js'

/** Maximum size of an upload of chunks, in bytes. */
const MAX_UPLOAD_BYTES = 8 * 1024 * 1024

/** Endpoints for uploads. */
export const chunkRoutes: Routes = (app, { store }) => {
  app.addContentTypeParser('application/octet-stream', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  )
  app.post<{ Body: Static<typeof ChunksBody> }>(
    '/v1/chunks/missing',
    endpoint('deployer', {
      summary: 'Chunks that the controller does not have. The others are kept for an hour at least.',
      isForTeams: true,
      body: ChunksBody,
      response: Type.Object({ missing: Type.Array(Type.String()) }),
    }),
    async ({ body: { chunks } }) => ({ missing: await store.missingChunks(chunks) }),
  )
  app.post<{ Body: Buffer }>(
    '/v1/chunks',
    {
      ...endpoint('deployer', {
        summary: 'Stores chunks: each one after its length, 4 bytes, big-endian',
        isForTeams: true,
        response: Type.Object({ stored: Type.Integer() }),
      }),
      bodyLimit: MAX_UPLOAD_BYTES,
    },
    async ({ body }) => {
      const chunks = Buffer.isBuffer(body) ? unpackChunks(body) : null
      if (chunks === null)
        throw new ControlProblem(
          'GW_CONTROL_BAD_REQUEST',
          'send chunks as application/octet-stream, each after its length',
        )
      await store.putChunks(new Map(chunks.map(({ digest, bytes }) => [digest, bytes])))
      return { stored: chunks.length }
    },
  )
}
