export type { FakeBehaviour, FakeResponse, SeenRequest } from './trial/fake-servers.js'
export type { TrialResponse } from './trial/trial-client.js'
export { type TrialRequest, type TrialResult, TrialWorker } from './trial/trial-worker.js'
