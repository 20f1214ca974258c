export { CopyError, type Sums } from '../embedded/sums.ts'
export { backUp, restore, verifyBackup, verifyStore } from './backup.ts'
export { exportTo } from './export.ts'
