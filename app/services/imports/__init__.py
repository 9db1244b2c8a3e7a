"""Contact files on their way into a campaign. `pipeline` tells the steps in order."""
