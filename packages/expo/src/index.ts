export type {
  ExpoCrypto,
  ExpoDatabase,
  ExpoModules,
  ExpoNetwork,
  ExpoSQLite,
  ReactNativeAppState,
  Subscription,
} from "./expo-modules.ts";
export { expoPlatform } from "./expo-platform.ts";
