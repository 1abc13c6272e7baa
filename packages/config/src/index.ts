export * from './plan.js'
export { bestRank, compareRanks, routeRank } from './route-rank.js'
