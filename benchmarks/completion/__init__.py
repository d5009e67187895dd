"""Features hidden on purpose: how well is predicted what was not recorded?"""
