# Reference figures for weights and designs: shares and design effects by R's package survey.
#
# Rscript survey.R, in this folder, writes the rows (nhanes.csv.gz: NHANES 2009-2010 as the package
# survey ships it, public domain) and what it finds for three tables of them (survey.csv).
# tests/cohorts/test_weights.py holds misfeat against both, without R.

suppressPackageStartupMessages(library(survey))
options(survey.lonely.psu = "adjust", digits = 17)

data(nhanes)
nhanes$agecat <- as.character(nhanes$agecat)
rows <- nhanes[, c("SDMVPSU", "SDMVSTRA", "WTMEC2YR", "HI_CHOL", "race", "agecat", "RIAGENDR")]
file <- gzfile("nhanes.csv.gz", "w")
write.csv(rows, file, row.names = FALSE, na = "")
close(file)

clustered <- svydesign(
  id = ~SDMVPSU, strata = ~SDMVSTRA, weights = ~WTMEC2YR, nest = TRUE, data = nhanes
)
stratified <- svydesign(id = ~1, strata = ~SDMVSTRA, weights = ~WTMEC2YR, data = nhanes)
designs <- list("strata and cluster" = clustered, "strata" = stratified)
tables <- list(c("HI_CHOL", "race"), c("HI_CHOL", "agecat"), c("agecat", "RIAGENDR"))

found <- list()
for (design in names(designs)) for (table in tables) {
  target <- table[1]
  by <- table[2]
  for (value in sort(unique(nhanes[[by]]))) {
    chosen <- !is.na(nhanes[[target]]) & nhanes[[by]] == value
    own <- subset(designs[[design]], chosen)
    means <- svymean(as.formula(paste0("~factor(", target, ")")), own, deff = "replace")
    weight <- nhanes$WTMEC2YR[chosen]
    found[[length(found) + 1]] <- data.frame(
      design = design, target = target, by = by, value = as.character(value),
      class = sub(".*\\)", "", names(coef(means))), rows = sum(chosen),
      share = as.numeric(coef(means)), effect = as.numeric(deff(means)),
      kish = sum(weight)^2 / sum(weight^2)
    )
  }
}
write.csv(do.call(rbind, found), "survey.csv", row.names = FALSE)
