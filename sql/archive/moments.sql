-- needs: archive/find.sql, gis/plane.sql
-- A moment of a campaign as a position: who stands in which hex of a map, as a counter of its game.

create or replace function archive.standing(
  campaign_id bigint,
  moment timestamptz,
  map_id bigint,
  account text default null,
  known timestamptz default null
)
returns table (
  force text, name text, side text, counter jsonb, label text, state text, account text, reliability text,
  accounts bigint
)
language sql stable parallel safe rows 50
begin atomic
  with told as (
    select
      stance.force,
      stance.state,
      stance.account,
      stance.key,
      source.reliability,
      count(*) over (partition by stance.force) as accounts,
      row_number() over (
        partition by stance.force
        order by array_position(array['high', 'fair', 'low', 'unknown'], source.reliability), stance.account
      ) as choice,
      case
        when campaign.map_id = standing.map_id and stance.hex is not null then stance.hex
        else (
          select under.label
          from gis.hex_at(standing.map_id, public.st_pointonsurface(stance.geom)) as under
        )
      end as label
    from archive.stances(
      standing.campaign_id, tstzrange(standing.moment, standing.moment, '[]'), null, standing.known
    ) as stance
    inner join public.campaign on stance.campaign_id = campaign.id
    inner join public.account as source
      on stance.campaign_id = source.campaign_id
        and stance.account = source.key
        and archive._stood(source.known, standing.known)
    where standing.account is null or stance.account = standing.account
  )
  select
    told.force,
    force.name,
    force.side,
    force.counters -> map.ruleset as counter,
    told.label,
    told.state,
    told.account,
    told.reliability,
    told.accounts
  from told
  inner join public.force
    on force.campaign_id = standing.campaign_id
      and told.force = force.key
      and archive._stood(force.known, standing.known)
  inner join public.map on map.id = standing.map_id
  where told.choice = 1
  order by told.force;
end;

comment on function archive.standing(bigint, timestamptz, bigint, text, timestamptz) is
'Who stood in which hex of a map at a moment, with the counter that was told for its game; where accounts differ, the most reliable one.';
