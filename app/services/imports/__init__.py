"""Contact files on their way into a campaign. `pipeline` lists the steps in order."""
