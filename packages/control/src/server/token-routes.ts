import { randomUUID } from 'node:crypto'
import { type Static, Type } from '@sluice/core'
import type { Token } from '../state/control-state.js'
import { newToken, requireAllGroups } from './access.js'
import { authorOf, endpoint, type Routes } from './api.js'
import { ControlProblem } from './problem.js'
import { TokenBody, TokenParams, TokenView } from './schemas.js'

/** Endpoints for tokens. An admin of some groups only may not use them: a token for more groups would be easy to get. */
export const tokenRoutes: Routes = (app, { log }) => {
  app.get(
    '/v1/tokens',
    endpoint('admin', { summary: 'Tokens', response: Type.Object({ tokens: Type.Array(TokenView) }) }),
    async ({ caller }) => {
      requireAllGroups(caller)
      return { tokens: [...log.state.tokens.values()].map(view) }
    },
  )
  app.post<{ Body: Static<typeof TokenBody> }>(
    '/v1/tokens',
    endpoint('admin', {
      summary: 'Creates a token. Only this response contains its text.',
      body: TokenBody,
      response: Type.Object({ text: Type.String(), ...TokenView.properties }),
    }),
    async (request) => {
      requireAllGroups(request.caller)
      const { name, role, groups } = request.body
      const { text, sha256 } = newToken()
      const token = randomUUID()
      await log.append(authorOf(request), ({ tokens }) => {
        if ([...tokens.values()].some((known) => known.name === name && !known.isRevoked))
          throw new ControlProblem(
            'GW_CONTROL_BAD_REQUEST',
            `there is a token '${name}'; choose another name`,
          )
        return { type: 'token.created', token, name, role, groups, sha256 }
      })
      return { text, ...view(log.state.tokens.get(token)!) }
    },
  )
  app.delete<{ Params: Static<typeof TokenParams> }>(
    '/v1/tokens/:token',
    endpoint('admin', { summary: 'Revokes a token. Its gateways are disconnected.', params: TokenParams }),
    async (request, reply) => {
      requireAllGroups(request.caller)
      const { token } = request.params
      await log.append(authorOf(request), ({ tokens }) => {
        if (tokens.get(token)?.isRevoked !== false)
          throw new ControlProblem('GW_CONTROL_NOT_FOUND', 'there is no such token')
        return { type: 'token.revoked', token }
      })
      return reply.code(204).send()
    },
  )
}

function view({ sha256: _, ...shown }: Token) {
  return shown
}
