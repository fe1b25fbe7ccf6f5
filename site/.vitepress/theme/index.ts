import theme from "vitepress/theme-without-fonts";
import "./theme.css";

// The fonts are those of the reader's system.
export default theme;
