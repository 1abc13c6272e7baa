export type { FakeBehaviour, FakeResponse, SeenRequest } from './trial/fake-servers.js'
export type { TrialRequest, TrialResponse } from './trial/trial-client.js'
export { type TrialResult, TrialWorker } from './trial/trial-worker.js'
